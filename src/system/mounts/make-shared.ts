import { realpath } from 'node:fs/promises'
import { mountsOnTheWay, readMountTable } from './mount-table.ts'
import { createRunMount } from './run-mount.ts'
import type { RunMountDeps } from './run-mount.ts'

const DEADLINE_MS = 10_000

/**
 * Makes what is mounted in a directory later visible to containers, and the other way round: the directory must lie on a shared mount. It
 * becomes a mount of its own where the one around it is not shared; after a restart nothing is left to do.
 */
export async function makeShared(
  deps: RunMountDeps & { readonly readTable?: typeof readMountTable },
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const run = createRunMount(deps)
  const table = deps.readTable ?? readMountTable
  const point = await realpath(directory)
  const around = mountsOnTheWay(await table(), point).at(-1)
  if (around?.isShared === true) return
  const what = `make "${directory}" a shared mount`
  const mount = (...argv: string[]) =>
    run({ what, argv: ['mount', '--no-canonicalize', ...argv], deadlineMs: DEADLINE_MS }, signal)
  // Recursively: volumes that are mounted below already must not be hidden.
  if (around?.point !== point) await mount('--rbind', '--', point, point)
  await mount('--make-rshared', '--', point)
}
