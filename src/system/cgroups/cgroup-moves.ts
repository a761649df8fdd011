import { readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import process from 'node:process'
import type { Clock } from '../../base/async/clock.ts'
import type { CgroupFolders } from './cgroup-folders.ts'
import { parseCgroupOfProcess } from './parse-cgroup-of-process.ts'

// Ten milliseconds after a move the next one still does not wait; twenty after, it does.
const PERIOD_MS = 7
const COLD_MS = 50
// Where the kernel waits it does so for 5 ms or more.
const QUICK_MS = 2
// Work that takes longer hangs.
const MOST_MS = 5000

/** Moves this process to the cgroup in which it is. */
export interface IdleMove extends AsyncDisposable {
  /** Fails when the process is in another cgroup by now, or may not be moved. */
  move(): Promise<void>
}

interface CgroupMovesDeps {
  readonly open: () => Promise<IdleMove>
  readonly clock: Clock
}

/**
 * Keeps moves of processes between cgroups quick while containers are made. An OCI runtime moves a process for each container. The kernel waits
 * 5 to 14 ms for every processor then, unless the last move was less than some ten milliseconds ago. So this process moves itself to the cgroup
 * where it is, again and again until the container is made: the first of these moves waits while the runtime does other work, the others and the
 * runtime's do not. docs/decisions/0052-moves-between-cgroups.md
 */
export class CgroupMoves {
  readonly #deps: CgroupMovesDeps
  #users = 0
  #isKept = false
  #begunAt = -Infinity
  #movedAt = -Infinity

  constructor(deps: CgroupMovesDeps) {
    this.#deps = deps
  }

  /** Does work that makes containers. Where more of it waits for its turn, that which goes on keeps moves quick by itself. */
  async keepQuick<T>(work: () => Promise<T>, options: { readonly othersWait: boolean }): Promise<T> {
    if (options.othersWait) return await work()
    this.#users += 1
    this.#begunAt = this.#deps.clock.monotonic()
    // Ends by itself, a period after the last work at the latest.
    if (!this.#isKept) void this.#keep()
    try {
      return await work()
    } finally {
      this.#users -= 1
    }
  }

  async #keep(): Promise<void> {
    this.#isKept = true
    try {
      const { open, clock } = this.#deps
      await using own = await open()
      while (this.#users > 0 && clock.monotonic() - this.#begunAt < MOST_MS) {
        if (!(await this.#moveWaits(own))) return
        await clock.sleep(PERIOD_MS, NEVER)
      }
    } catch {
      // Containers start all the same, each after its wait.
    } finally {
      this.#isKept = false
    }
  }

  /** Moves. False where the kernel does not wait: the first move after a while was quick. */
  async #moveWaits(own: IdleMove): Promise<boolean> {
    const { clock } = this.#deps
    const from = clock.monotonic()
    const isCold = from - this.#movedAt >= COLD_MS
    await own.move()
    this.#movedAt = clock.monotonic()
    return !isCold || this.#movedAt - from >= QUICK_MS
  }
}

const NEVER = new AbortController().signal

// Some ten lines.
const MAX_LENGTH = 8192

export async function openIdleMove(folders: Pick<CgroupFolders, 'folderOf'>): Promise<IdleMove> {
  await using opened = new AsyncDisposableStack()
  const own = opened.use(await open('/proc/self/cgroup', 'r'))
  const before = readStart(own)
  const cgroup = parseCgroupOfProcess(before)
  if (cgroup === undefined) throw new Error('this process is in no cgroup')
  const processes = opened.use(await open(`${folders.folderOf('memory', cgroup)}/cgroup.procs`, 'r+'))
  const files = opened.move()
  return {
    async move() {
      // Asked each time: whoever has moved this process meanwhile must not find it moved back.
      if (readStart(own) !== before) throw new Error('this process was moved')
      await processes.write(String(process.pid))
    },
    [Symbol.asyncDispose]: () => files.disposeAsync(),
  }
}

/** At once: the kernel has it in memory, and a thread to wait in would cost several times as much. */
function readStart({ fd }: FileHandle): string {
  const buffer = Buffer.alloc(MAX_LENGTH)
  return buffer.toString('utf8', 0, readSync(fd, buffer, 0, MAX_LENGTH, 0))
}
