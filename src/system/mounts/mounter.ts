import { createKnownMountTable } from './known-mount-table.ts'
import type { MountEntry } from './mount-table.ts'
import { mountsAt, toMountPoint } from './mounts-at.ts'
import { createRunMount, MountError } from './run-mount.ts'
import type { RunMountDeps } from './run-mount.ts'

/** Mounts and unmounts, by mount(8) and umount(8) in child processes with a deadline. Failures are MountErrors. */
export interface Mounter {
  /** The kernel's own table: asking it never blocks, whatever is mounted. */
  table(): Promise<readonly MountEntry[]>
  /** A new file system: tmpfs, hugetlbfs, nfs, ext4 … On top of what is mounted there already: the caller checks first. */
  mount(
    request: {
      readonly fileSystem: string
      readonly source: string
      readonly target: string
      readonly options: readonly string[]
      readonly deadlineMs: number
    },
    signal: AbortSignal,
  ): Promise<void>
  /** Bind, then remount with the options, since the first call ignores them. A failure leaves nothing bound. */
  bind(
    request: { readonly source: string; readonly target: string; readonly options: readonly string[] },
    signal: AbortSignal,
  ): Promise<void>
  /** Until nothing is mounted there; what is not mounted is no failure. Force: also when its server is away (umount -f), at last lazily. */
  unmount(target: string, options: { readonly force: boolean }, signal: AbortSignal): Promise<void>
}

const BIND_DEADLINE_MS = 10_000
// As long as the Go kubelet waits before it forces an unmount.
const UNMOUNT_DEADLINE_MS = 60_000
const FORCED_DEADLINE_MS = 10_000
// Mounts on one point; more are no accident of ours, and taking them off one by one would not end.
const MOST_STACKED = 100
// As in the Go kubelet: what --experimental-mounter-path is for.
const REMOTE_FILE_SYSTEMS: ReadonlySet<string> = new Set(['nfs', 'glusterfs', 'ceph', 'cifs'])

interface MounterDeps extends RunMountDeps {
  readonly readTable?: Mounter['table']
  /** A program that knows how to mount file systems of other machines, where mount(8) alone does not; empty: none. */
  readonly remoteHelper?: string
}

/** Paths are never made canonical by mount(8): ours are already, and resolving them could block. */
export function createMounter(deps: MounterDeps): Mounter {
  const table = deps.readTable ?? createKnownMountTable()
  const run = createRunMount(deps)

  /** Plainly first; where force is allowed also without the server, at last out of sight only. */
  async function unmountTop(target: string, force: boolean, signal: AbortSignal): Promise<void> {
    const before = (await mountsAt({ table }, target)).length
    const ways = [[], ...(force ? [['--force'], ['--lazy']] : [])]
    let failure: unknown
    for (const flags of ways) {
      try {
        const argv = ['umount', '--no-canonicalize', ...flags, '--', target]
        const deadlineMs = flags.length === 0 ? UNMOUNT_DEADLINE_MS : FORCED_DEADLINE_MS
        return await run({ what: `unmount "${target}"`, argv, deadlineMs }, signal)
      } catch (error) {
        signal.throwIfAborted()
        if ((await mountsAt({ table }, target)).length < before) return
        failure = error
      }
    }
    throw failure
  }

  async function unmount(target: string, { force }: { readonly force: boolean }, signal: AbortSignal): Promise<void> {
    const point = await toMountPoint(target)
    for (let stacked = 0; stacked < MOST_STACKED; stacked += 1) {
      if ((await mountsAt({ table }, point)).length === 0) return
      await unmountTop(point, force, signal)
    }
    throw new MountError(`Cannot unmount "${target}": more than ${MOST_STACKED} mounts are there`, { uncertain: false })
  }

  return {
    table,
    unmount,

    async mount({ fileSystem, source, target, options, deadlineMs }, signal) {
      const point = await toMountPoint(target)
      const args = ['-t', fileSystem, ...toOptions(options)]
      const { remoteHelper = '' } = deps
      const argv =
        remoteHelper !== '' && REMOTE_FILE_SYSTEMS.has(fileSystem)
          ? [remoteHelper, 'mount', ...args, source, point]
          : ['mount', '--no-canonicalize', ...args, '--', source, point]
      await run({ what: `mount ${fileSystem} on "${target}"`, argv, deadlineMs }, signal)
    },

    async bind({ source, target, options }, signal) {
      const point = await toMountPoint(target)
      const what = `bind "${source}" to "${target}"`
      const bind = (...argv: string[]) =>
        run({ what, argv: ['mount', '--no-canonicalize', ...argv], deadlineMs: BIND_DEADLINE_MS }, signal)
      await bind('--bind', '--', source, point)
      if (options.length === 0) return
      try {
        await bind(...toOptions(['remount', 'bind', ...options]), '--', point)
      } catch (error) {
        // What was to be read-only must not stay there writable.
        await unmount(target, { force: false }, signal)
        throw error
      }
    },
  }
}

function toOptions(options: readonly string[]): readonly string[] {
  return options.length === 0 ? [] : ['-o', options.join(',')]
}
