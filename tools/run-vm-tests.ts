/** The agent on whole machines under QEMU, with systemd and cgroup v2: npm run test:vm. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { errorMessage } from '../src/base/telemetry/error-text.ts'
import { vmSuites } from '../test/vm/suites.ts'
import type { VmSuite } from '../test/vm/support/vm-suite.ts'
import { findAccelerator } from './vm/find-accelerator.ts'
import { makePayload } from './vm/payload.ts'
import { describeCounts, runSuites } from './vm/run-suites.ts'
import type { VmCounts } from './vm/run-suites.ts'
import { VirtualMachine } from './vm/virtual-machine.ts'
import { openImage } from './vm/vm-image.ts'
import { vmHardware, vmReleases } from './vm/vm-releases.ts'
import type { VmRelease } from './vm/vm-releases.ts'

interface VmOptions {
  readonly releases: readonly VmRelease[]
  readonly suites: readonly VmSuite[]
  /** Leaves the machine running at the end, with how to get in, until Ctrl-C. */
  readonly keep: boolean
}

const usage = `Usage: npm run test:vm -- [--release NUMBER]… [--only SUITE]… [--keep]
  --release  of Debian: ${vmReleases.map(({ number }) => number).join(', ')}; all without it
  --only     ${vmSuites.map(({ name, onlyByName }) => `${name}${onlyByName === true ? '*' : ''}`).join(', ')}; all without it, but those with *
  --keep     leaves the machine running at the end, until Ctrl-C`

/** Reads the arguments; fails with what is wrong and how to use it. */
export function parseVmOptions(args: readonly string[]): VmOptions {
  const texts = { type: 'string', multiple: true } as const
  const values = readArguments()
  return {
    releases: choose('--release', values.release, vmReleases, ({ number }) => number),
    suites: choose('--only', values.only, vmSuites, ({ name }) => name).filter(
      ({ onlyByName }) => onlyByName !== true || values.only !== undefined,
    ),
    keep: values.keep ?? false,
  }

  function readArguments() {
    try {
      const options = { release: texts, only: texts, keep: { type: 'boolean' } } as const
      return parseArgs({ args: [...args], options, strict: true }).values
    } catch (error) {
      throw new Error(`Cannot read the arguments: ${errorMessage(error)}\n${usage}`, { cause: error })
    }
  }
}

function choose<T>(
  option: string,
  names: readonly string[] | undefined,
  all: readonly T[],
  nameOf: (one: T) => string,
) {
  const wanted = names?.flatMap((name) => name.split(','))
  const wrong = wanted?.find((name) => !all.some((one) => nameOf(one) === name))
  if (wrong !== undefined)
    throw new Error(`Cannot use ${option} "${wrong}": expected ${all.map(nameOf).join(', ')}\n${usage}`)
  return all.filter((one) => wanted === undefined || wanted.includes(nameOf(one)))
}

type Result = { readonly release: VmRelease } & ({ readonly counts: VmCounts } | { readonly trouble: string })

async function runRelease(release: VmRelease, options: VmOptions, signal: AbortSignal): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-vm-'))
  let machine: VirtualMachine | undefined
  try {
    const image = await openImage({ release, say, signal })
    const accelerator = await findAccelerator({ image, folder, signal, say })
    say(`\n=== Debian ${release.number} on ${vmHardware.architecture}, ${describeAccelerator[accelerator]}\n`)
    const payload = await makePayload({ root: process.cwd(), image, folder, signal })
    machine = await VirtualMachine.create({ image, accelerator, payload, folder, signal })
    const startedAt = Date.now()
    await machine.start()
    say(`booted in ${((Date.now() - startedAt) / 1000).toFixed(0)} s\n`)
    const counts = await runSuites(machine, options.suites, say, signal)
    if (options.keep) await keep(machine, signal)
    return { release, counts }
  } catch (error) {
    say(`\n=== Debian ${release.number}: not run: ${errorMessage(error)}\n`)
    return { release, trouble: errorMessage(error).split('\n')[0] ?? '' }
  } finally {
    await machine?.cutPower()
    rmSync(folder, { recursive: true, force: true })
  }
}

const describeAccelerator = {
  kvm: 'with KVM',
  tcg: 'emulated in software (KVM does not work here): everything takes ten times as long',
} as const

async function keep(machine: VirtualMachine, signal: AbortSignal): Promise<void> {
  say(`\nThe machine runs until Ctrl-C: ${machine.guest.describeLogin()}\n`)
  if (!signal.aborted) await once(signal, 'abort')
}

function report(results: readonly Result[]): boolean {
  const total = { passed: 0, failed: 0, notApplicable: 0 }
  say('\n')
  for (const result of results) {
    const name = `Debian ${result.release.number}`
    if ('trouble' in result) {
      say(`not run  ${name}: ${result.trouble}\n`)
      continue
    }
    say(`${result.counts.failed === 0 ? 'ok' : 'FAILED'}  ${name}: ${describeCounts(result.counts)}\n`)
    for (const key of ['passed', 'failed', 'notApplicable'] as const) total[key] += result.counts[key]
  }
  const missing = results.filter((result) => 'trouble' in result).length
  say(`\n${describeCounts(total)}${missing === 0 ? '' : `; ${missing} of ${results.length} machines not run`}\n`)
  return missing === 0 && total.failed === 0 && total.passed > 0
}

async function main(args: readonly string[]): Promise<boolean> {
  const options = parseVmOptions(args)
  if (process.arch !== vmHardware.node)
    throw new Error(
      `Cannot run machines on ${process.arch}: only machines with ${vmHardware.architecture} are made yet`,
    )
  const interrupt = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => interrupt.abort(new Error('interrupted')))
  const results: Result[] = []
  for (const release of options.releases)
    if (!interrupt.signal.aborted) results.push(await runRelease(release, options, interrupt.signal))
  return report(results)
}

function say(text: string): void {
  process.stdout.write(text)
}

if (import.meta.main) {
  try {
    process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n`)
    process.exitCode = 2
  }
}
