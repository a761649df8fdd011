import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { ProcessError, runProcess } from '../processes/run-process.ts'
import type { ProcessResult } from '../processes/run-process.ts'

/** What is on a block device. Blank is certain: whatever may be data is "other". */
export type DeviceContent =
  | { readonly kind: 'blank' }
  | { readonly kind: 'fileSystem'; readonly type: string }
  | { readonly kind: 'other'; readonly what: string }

/** Block devices of the node, through the programs that know them. */
export interface BlockDevices {
  probe(device: string, signal: AbortSignal): Promise<DeviceContent>
  /** Makes a file system. Whatever was on the device is gone: only for one that is blank. */
  format(device: string, fileSystem: string, signal: AbortSignal): Promise<void>
  /** Repairs what can be repaired without asking; fails for a file system that cannot. */
  check(device: string, signal: AbortSignal): Promise<void>
  /** Makes the file system of a device, which is mounted there, as large as the device; nothing happens where there is none. */
  grow(device: string, mountPoint: string, signal: AbortSignal): Promise<void>
  /** Holds the device behind a file open, so that it cannot vanish; once for each file. */
  hold(file: string, signal: AbortSignal): Promise<void>
  release(file: string, signal: AbortSignal): Promise<void>
}

export interface BlockDevicesDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly run?: typeof runProcess
}

const QUICK_MS = 30_000
// Large disks with a slow discard take long, and half a file system is worth nothing.
const SLOW_MS = 3_600_000

const MEBIBYTE = 1024 * 1024
const SIGNATURE_MEBIBYTES = 2

const BLKID_NOTHING = 2
const BLKID_AMBIGUOUS = 8
const FSCK_REPAIRED = 1
const FSCK_LEFT_ERRORS = 4

/** Becomes part of the name of a program. */
const FILE_SYSTEM = /^[a-z0-9][a-z0-9_-]*$/

export function createBlockDevices({ clock, log, run = runProcess }: BlockDevicesDeps): BlockDevices {
  const call = (argv: readonly string[], deadlineMs: number, signal: AbortSignal) =>
    run(clock, { argv, deadlineMs }, signal)

  async function succeed(argv: readonly string[], deadlineMs: number, signal: AbortSignal): Promise<string> {
    const result = await call(argv, deadlineMs, signal)
    if (result.exitCode !== 0) throw failure(argv, result)
    return result.stdout
  }

  /** Both ends, where signatures are: reading them must work, or finding nothing there proves nothing. */
  async function proveReadable(device: string, signal: AbortSignal): Promise<void> {
    const size = Number(await succeed(['blockdev', '--getsize64', device], QUICK_MS, signal))
    if (!(size > 0)) throw new Error(`Cannot find out what is on "${device}": it has no size`)
    const last = Math.max(0, Math.ceil(size / MEBIBYTE) - SIGNATURE_MEBIBYTES)
    for (const skip of new Set([0, last])) {
      const range = ['bs=1M', `skip=${skip}`, `count=${SIGNATURE_MEBIBYTES}`]
      await succeed(['dd', `if=${device}`, 'of=/dev/null', ...range, 'status=none'], QUICK_MS, signal)
    }
  }

  /** Blkid says "nothing" also for a device that it cannot read. */
  async function proveBlank(device: string, signal: AbortSignal): Promise<DeviceContent> {
    await proveReadable(device, signal)
    const found = await succeed(['wipefs', '--noheadings', '--output', 'TYPE', '--', device], QUICK_MS, signal)
    return found.trim() === ''
      ? { kind: 'blank' }
      : { kind: 'other', what: `something of type ${found.trim().split(/\s+/).join(', ')}` }
  }

  async function loopsOf(file: string, signal: AbortSignal): Promise<readonly string[]> {
    const argv = ['losetup', '--json', '--list', '--output', 'NAME,BACK-FILE']
    return parseLoops(await succeed(argv, QUICK_MS, signal)).flatMap(({ name, backFile }) =>
      backFile === file ? [name] : [],
    )
  }

  async function probe(device: string, signal: AbortSignal): Promise<DeviceContent> {
    const argv = ['blkid', '-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device]
    const result = await call(argv, QUICK_MS, signal)
    if (result.exitCode === BLKID_NOTHING) return await proveBlank(device, signal)
    if (result.exitCode === BLKID_AMBIGUOUS) return { kind: 'other', what: 'signatures that contradict each other' }
    if (result.exitCode !== 0) throw failure(argv, result)
    const found = new Map(result.stdout.split('\n').map((line) => splitOnce(line)))
    const type = found.get('TYPE')
    if (type !== undefined) return { kind: 'fileSystem', type }
    return { kind: 'other', what: `a partition table (${found.get('PTTYPE') ?? 'of an unknown type'})` }
  }

  return {
    probe,

    async format(device, fileSystem, signal) {
      if (!FILE_SYSTEM.test(fileSystem))
        throw new Error(`Cannot format "${device}": "${fileSystem}" is no name of a file system`)
      await succeed([`mkfs.${fileSystem}`, ...formatOptions(fileSystem), device], SLOW_MS, signal)
      log.info('made a file system', { device, fileSystem })
    },

    async check(device, signal) {
      const argv = ['fsck', '-a', device]
      let result: ProcessResult
      try {
        result = await call(argv, SLOW_MS, signal)
      } catch (error) {
        if (!(error instanceof ProcessError)) throw error
        log.warn('cannot check a file system, going on', { device, error })
        return
      }
      const { exitCode } = result
      if (exitCode === 0) return
      if (exitCode === FSCK_REPAIRED) return log.info('repaired a file system', { device })
      if (exitCode === FSCK_LEFT_ERRORS) throw failure(argv, result)
      log.warn('the check of a file system failed, going on', { device, exitCode })
    },

    async grow(device, mountPoint, signal) {
      const content = await probe(device, signal)
      if (content.kind === 'blank') return
      const argv = content.kind === 'fileSystem' ? growCommand(content.type, device, mountPoint) : undefined
      if (argv === undefined) {
        const what = content.kind === 'fileSystem' ? `a file system of type ${content.type}` : content.what
        throw new Error(`Cannot make what is on "${device}" larger: ${what}, expected one of ext3, ext4, xfs, btrfs`)
      }
      await succeed(argv, SLOW_MS, signal)
      log.info('made a file system larger', { device })
    },

    async hold(file, signal) {
      if ((await loopsOf(file, signal)).length > 0) return
      await succeed(['losetup', '--find', '--show', file], QUICK_MS, signal)
    },

    async release(file, signal) {
      for (const loop of await loopsOf(file, signal)) await succeed(['losetup', '--detach', loop], QUICK_MS, signal)
    },
  }
}

function formatOptions(fileSystem: string): readonly string[] {
  // No blocks are kept back for root: the volume is for the pod alone.
  if (fileSystem === 'ext3' || fileSystem === 'ext4') return ['-F', '-m0']
  return fileSystem === 'xfs' ? ['-f'] : []
}

/** All of them work while it is mounted. */
function growCommand(fileSystem: string, device: string, mountPoint: string): readonly string[] | undefined {
  switch (fileSystem) {
    case 'ext3':
    case 'ext4':
      return ['resize2fs', device]
    case 'xfs':
      return ['xfs_growfs', '-d', mountPoint]
    case 'btrfs':
      return ['btrfs', 'filesystem', 'resize', 'max', mountPoint]
    default:
      return undefined
  }
}

function failure(argv: readonly string[], { exitCode, stdout, stderr }: ProcessResult): ProcessError {
  const said = (stderr.trim() || stdout.trim()).slice(-1000)
  return new ProcessError(argv, `exit code ${exitCode ?? 'none, killed by a signal'}, expected 0: ${said}`)
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf('=')
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
}

/** Without any loop device it prints nothing at all. */
function parseLoops(text: string): readonly { readonly name: string; readonly backFile: string }[] {
  if (text.trim() === '') return []
  const { loopdevices = [] } = JSON.parse(text) as { loopdevices?: readonly Readonly<Record<string, string | null>>[] }
  return loopdevices.map((loop) => ({ name: loop['name'] ?? '', backFile: loop['back-file'] ?? '' }))
}
