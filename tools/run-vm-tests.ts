/** The agent on whole machines under QEMU, with systemd and cgroup v2: npm run test:vm. */
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { errorMessage } from '../src/base/telemetry/error-text.ts'
import { isProgram } from '../src/system/files/is-program.ts'
import { vmSuites } from '../test/vm/suites.ts'
import type { VmSuite } from '../test/vm/support/vm-suite.ts'
import { checkExecutable } from './package/open-node.ts'
import { findAccelerator } from './vm/find-accelerator.ts'
import { makePayload } from './vm/payload.ts'
import { runCommand } from './vm/run-command.ts'
import { describeCounts, runSuites } from './vm/run-suites.ts'
import type { VmCounts } from './vm/run-suites.ts'
import { VirtualMachine } from './vm/virtual-machine.ts'
import { openImage } from './vm/vm-image.ts'
import { vmHardware, vmReleases } from './vm/vm-releases.ts'
import type { VmHardware, VmRelease } from './vm/vm-releases.ts'

interface VmOptions {
  readonly hardware: VmHardware
  readonly releases: readonly VmRelease[]
  readonly suites: readonly VmSuite[]
  /** Leaves the machine running at the end, with how to get in, until Ctrl-C. */
  readonly keep: boolean
  /** Of the suite "power". */
  readonly powerCuts: number
}

const POWER_CUTS = 20
const PACKAGE_MS = 1_800_000

const usage = `Usage: npm run test:vm -- [--arch ARCHITECTURE] [--release NUMBER]… [--only SUITE]… [--power-cuts NUMBER] [--keep]
  --arch     ${Object.keys(vmHardware).join(', ')}; this machine's without it
  --release  of Debian: ${vmReleases.map(({ number }) => number).join(', ')}; all without it
  --only     ${vmSuites.map(({ name, onlyByName }) => `${name}${onlyByName === true ? '*' : ''}`).join(', ')}; all without it, but those with *
  --power-cuts  how often the suite "power" cuts the power, ${POWER_CUTS} times without it
  --keep     leaves the machine running at the end, until Ctrl-C`

/** Reads the arguments; fails with what is wrong and how to use it. */
export function parseVmOptions(args: readonly string[]): VmOptions {
  const texts = { type: 'string', multiple: true } as const
  const values = readArguments()
  return {
    hardware: parseHardware(values.arch),
    releases: choose('--release', values.release, vmReleases, ({ number }) => number),
    suites: choose('--only', values.only, vmSuites, ({ name }) => name).filter(
      ({ onlyByName }) => onlyByName !== true || values.only !== undefined,
    ),
    keep: values.keep ?? false,
    powerCuts: parseCount('--power-cuts', values['power-cuts'] ?? String(POWER_CUTS)),
  }

  function readArguments() {
    try {
      const options = {
        arch: { type: 'string' },
        release: texts,
        only: texts,
        keep: { type: 'boolean' },
        'power-cuts': { type: 'string' },
      } as const
      return parseArgs({ args: [...args], options, strict: true }).values
    } catch (error) {
      throw new Error(`Cannot read the arguments: ${errorMessage(error)}\n${usage}`, { cause: error })
    }
  }
}

function parseHardware(name: string | undefined): VmHardware {
  const known = Object.values(vmHardware)
  const found = known.find(({ architecture, node }) =>
    name === undefined ? node === process.arch : architecture === name,
  )
  if (found !== undefined) return found
  const expected = known.map(({ architecture }) => architecture).join(', ')
  throw new Error(`Cannot use --arch "${name ?? process.arch}": expected ${expected}\n${usage}`)
}

function parseCount(option: string, text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new Error(`Cannot use ${option} "${text}": expected a number above 0\n${usage}`)
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
  const { hardware } = options
  let machine: VirtualMachine | undefined
  try {
    const image = await openImage({ release, hardware, say, signal })
    const accelerator = await findAccelerator({ image, folder, signal, say })
    say(`\n=== Debian ${release.number} on ${hardware.architecture}, ${describeAccelerator[accelerator]}\n`)
    const packages = options.suites.some(({ needsPackages }) => needsPackages === true)
      ? await makePackages(hardware, signal)
      : []
    const payload = await makePayload({ root: process.cwd(), image, packages, folder, signal })
    machine = await VirtualMachine.create({ image, accelerator, payload, folder, signal })
    const startedAt = Date.now()
    await machine.start()
    say(`booted in ${((Date.now() - startedAt) / 1000).toFixed(0)} s\n`)
    const counts = await runSuites({ machine, suites: options.suites, powerCuts: options.powerCuts, say, signal })
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

/** The Debian packages of this checkout. */
async function makePackages({ architecture, node }: VmHardware, signal: AbortSignal): Promise<readonly string[]> {
  say('making the Debian packages: npm run package\n')
  const argv = ['npm', 'run', '--silent', 'package', '--', '--arch', node, '--no-image']
  await runCommand(argv, { signal, deadlineMs: PACKAGE_MS })
  return globSync(`out/deckhand*_{${architecture},all}.deb`)
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
  const { qemu, qemuPackage, architecture } = options.hardware
  if (!(await isProgram(qemu, process.env['PATH'] ?? '')))
    throw new Error(
      `Cannot run machines with ${architecture}: there is no program ${qemu}; on Debian: apt-get install ${qemuPackage}`,
    )
  if (options.suites.some(({ needsPackages }) => needsPackages === true)) checkExecutable(options.hardware.node)
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
