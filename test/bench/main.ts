/** The benchmark: every measure of a node agent that users notice, for our kubelet and for another beside it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { startLab } from '../e2e/lab/start-lab.ts'
import { apiScenario } from './measure-api.ts'
import { churnScenario } from './measure-churn.ts'
import { executableScenario } from './measure-executable.ts'
import { crashesScenario } from './measure-crashes.ts'
import { densityScenario } from './measure-density.ts'
import { earlierNodeScenario } from './measure-earlier-node.ts'
import { idleScenario } from './measure-idle.ts'
import { manyPodsScenario } from './measure-many-pods.ts'
import { nodeStartScenario } from './measure-node-start.ts'
import { onePodScenario } from './measure-one-pod.ts'
import { pageScenario } from './measure-page.ts'
import { probesScenario } from './measure-probes.ts'
import { rushScenario } from './measure-rush.ts'
import { standaloneScenario } from './measure-standalone.ts'
import { fleetScenario, simulationScenario } from './measure-simulation.ts'
import { startupScenario } from './measure-startup.ts'
import { streamsScenario } from './measure-streams.ts'
import { subPathRaceScenario } from './measure-sub-path-race.ts'
import { volumeCyclesScenario } from './measure-volume-cycles.ts'
import { parseOptions, usage } from './options.ts'
import type { BenchOptions } from './options.ts'
import { mergeSamples } from './rows.ts'
import type { Samples } from './rows.ts'
import type { Scenario } from './scenario.ts'
import { compareRuns, formatComparison, parseHistory, toHistoryEntry } from './history.ts'
import type { HistoryEntry } from './history.ts'
import { computeResults, formatTable, listUncertain } from './table.ts'
import type { Measured } from './table.ts'

const scenarios: readonly Scenario[] = [
  startupScenario,
  executableScenario,
  idleScenario,
  onePodScenario,
  manyPodsScenario,
  densityScenario,
  crashesScenario,
  streamsScenario,
  rushScenario,
  probesScenario,
  subPathRaceScenario,
  volumeCyclesScenario,
  apiScenario,
  nodeStartScenario,
  earlierNodeScenario,
  standaloneScenario,
  pageScenario,
  churnScenario,
  simulationScenario,
  fleetScenario,
]

interface Kubelet {
  readonly label: string
  readonly binary: string | undefined
  readonly samples: Samples[]
}

process.exitCode = await main()

async function main(): Promise<number> {
  let options: BenchOptions
  try {
    options = parseOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    return 2
  }
  if (options.help) {
    console.log(usage)
    return 0
  }
  runAsInstalled()
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => stop.abort(new Error(`Stopped by ${name}: the labs are taken down`)))
  }
  const kubelets: Kubelet[] = [{ label: 'deckhand', binary: undefined, samples: [] }]
  if (options.against !== undefined) {
    kubelets.push({ label: 'other', binary: resolve(options.against), samples: [] })
  }
  // Read before anything is measured, which takes long: a file that cannot be used is reported now.
  const before = options.compare === undefined ? undefined : parseHistory(await readFile(options.compare, 'utf8'))
  const ok = await runScenarios(kubelets, options, stop.signal)
  const isWorse = await report(kubelets, options, before)
  return ok && !isWorse ? 0 : 1
}

async function runScenarios(
  kubelets: readonly Kubelet[],
  options: BenchOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const wanted = scenarios.filter(({ rows }) => rows.some((row) => options.only?.includes(row) ?? true))
  const endAt = performance.now() + options.minutes * 60_000
  let ok = true
  for (let round = 1; round <= options.mostRounds; round += 1) {
    const uncertain = new Set(listUncertain(computeResults(kubelets.map(toMeasured))))
    for (const scenario of wanted) {
      const refusal = scenario.refusal?.(options)
      if (refusal !== undefined) {
        if (round === 1) console.error(`LEFT OUT  ${scenario.name}: ${refusal}`)
        continue
      }
      if (round > options.rounds && !scenario.rows.some((row) => uncertain.has(row))) continue
      if (performance.now() > endAt) {
        if (round === 1) console.error(`LEFT OUT  ${scenario.name}: ${options.minutes} minutes are over`)
        continue
      }
      // Who is first changes: what the first one leaves warm, or busy, is of use or of harm to each of them as often.
      for (const kubelet of round % 2 === 1 ? kubelets : kubelets.toReversed()) {
        if (signal.aborted) return false
        if (scenario.isOwn === true && kubelet.binary !== undefined) continue
        console.error(
          `round ${round} of ${options.rounds} to ${options.mostRounds}: ${scenario.name}, ${kubelet.label}`,
        )
        ok = (await runScenario(scenario, kubelet, options, signal)) && ok
      }
    }
  }
  return ok
}

/** One failure must not cost the other measurements: it is reported, and its rows stay empty. */
async function runScenario(
  scenario: Scenario,
  kubelet: Kubelet,
  options: BenchOptions,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await using lab = await startLab(options.runtime)
    const samples = await scenario.measure({ lab, binary: kubelet.binary, ...options, signal })
    const kept = Object.entries(samples).filter(([name]) => options.only?.includes(name) ?? true)
    kubelet.samples.push(Object.fromEntries(kept))
    return true
  } catch (error) {
    console.error(`FAILED  ${scenario.name}, ${kubelet.label}:`, signal.aborted ? signal.reason : error)
    return false
  }
}

function toMeasured({ label, samples }: Kubelet): Measured {
  return { label, samples: mergeSamples(samples) }
}

/** True when a row is worse than in the run that this one is compared with. */
async function report(
  kubelets: readonly Kubelet[],
  options: BenchOptions,
  before: HistoryEntry | undefined,
): Promise<boolean> {
  const measured = kubelets.map(toMeasured)
  const results = computeResults(measured)
  const [cpu] = cpus()
  const machine = {
    cores: cpus().length,
    cpu: cpu?.model ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1e9),
    kernel: release(),
  }
  console.log(
    `\n${machine.cores} cores (${machine.cpu}), Linux ${machine.kernel}; "many pods" are ${options.pods}, probed ones ${options.probedPods}\n`,
  )
  console.log(
    formatTable(
      measured.map(({ label }) => label),
      results,
    ),
  )
  const uncertain = listUncertain(results)
  if (uncertain.length > 0) console.log(`\nNot known to 5 % (marked with ?): ${uncertain.join(', ')}`)
  const now = toHistoryEntry(results, {
    time: new Date().toISOString(),
    version: readVersion(),
    machine: `${machine.cores} × ${machine.cpu}, Linux ${machine.kernel}`,
  })
  await mkdir(dirname(options.history), { recursive: true })
  await appendFile(options.history, `${JSON.stringify(now)}\n`)
  const compared = before === undefined ? [] : compareRuns(before, now)
  if (before !== undefined) console.log(`\n${formatComparison(before, compared)}`)
  if (options.json !== undefined)
    await writeFile(options.json, `${JSON.stringify({ machine, options, results, measured }, undefined, 2)}\n`)
  return compared.some(({ verdict }) => verdict === 'worse')
}

/** The commit of the checkout; a tree without one has none. */
function readVersion(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}

/** An installed agent does not look for edited sources at each start; in a checkout that costs it some 10 ms. */
function runAsInstalled(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const edited = spawnSync('find', ['src', '-newer', 'dist/made', '-print', '-quit'], { cwd: root, encoding: 'utf8' })
  const isCurrent = edited.status === 0 && edited.stdout === ''
  if (isCurrent) process.env['DECKHAND_RUN'] ??= 'built'
  else console.error('The build is not current ("npm run build"): what is measured is built from the sources')
}
