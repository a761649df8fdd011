import type { MountEntry } from './mount-table.ts'

/** Mounts and unmounts, by mount(8) and umount(8) in child processes with a deadline. */
export interface Mounter {
  /** The kernel's own table: asking it never blocks, whatever is mounted. */
  table(): Promise<readonly MountEntry[]>
  /** A new file system: tmpfs, hugetlbfs, nfs, ext4 … */
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
  /** Bind, then remount with the options, since the first call ignores them. */
  bind(
    request: { readonly source: string; readonly target: string; readonly options: readonly string[] },
    signal: AbortSignal,
  ): Promise<void>
  /** Until nothing is mounted there; what is not mounted is no failure. Force: also when its server is away (umount -f), at last lazily. */
  unmount(target: string, options: { readonly force: boolean }, signal: AbortSignal): Promise<void>
}
