import { nextTurn } from '../../../base/async/next-turn.ts'
import type { StatsDeps } from '../stats-deps.ts'
import type { ProcessUsage } from '../stats-snapshot.ts'

/** How many descriptors a snapshot may still read: each takes some ten microseconds. */
export class DescriptorBudget {
  #left = 40_000

  get left(): number {
    return Math.min(this.#left, 4000)
  }

  spend(descriptors: number): void {
    this.#left -= descriptors
  }
}

interface ProcessRequest {
  readonly pids: readonly number[]
  /** Its limits are those of the whole; undefined for cgroups that belong to no program. */
  readonly first: number | undefined
  readonly budget: DescriptorBudget
}

// So many processes are read before others run.
const SLICE = 64

/** What the processes of a cgroup have open. What would take too long to count is left out. */
export async function readProcesses(
  { openFiles, kernelFile }: Pick<StatsDeps['files'], 'openFiles' | 'kernelFile'>,
  { pids, first, budget }: ProcessRequest,
): Promise<ProcessUsage> {
  let descriptors: number | undefined = 0
  let sockets: number | undefined = 0
  let most = budget.left
  for (const [index, pid] of pids.entries()) {
    if (index > 0 && index % SLICE === 0) await nextTurn()
    const found = await openFiles(pid, sockets === undefined ? 0 : most)
    // Gone, as if it had never been there.
    if (found === undefined) continue
    descriptors = add(descriptors, found.files)
    sockets = add(sockets, found.sockets)
    if (found.sockets !== undefined) {
      most -= found.files ?? 0
      budget.spend(found.files ?? 0)
    }
  }
  return {
    processes: pids.length,
    descriptors,
    sockets,
    openFilesLimit: first === undefined ? undefined : parseOpenFilesLimit(kernelFile(`/proc/${first}/limits`)),
  }
}

function add(sum: number | undefined, part: number | undefined): number | undefined {
  return sum === undefined || part === undefined ? undefined : sum + part
}

/** The soft limit in a file such as /proc/1/limits; -1 is none. */
export function parseOpenFilesLimit(text: string | undefined): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(text ?? '')?.[1]
  if (soft === undefined) return undefined
  return soft === 'unlimited' ? -1 : Number(soft)
}
