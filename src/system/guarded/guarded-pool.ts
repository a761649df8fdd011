import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { Turnstile } from '../../base/async/turnstile.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { GuardedFileError, GuardedProcess } from './guarded-process.ts'

/** One thing to do in a child process. */
export interface GuardedTask {
  readonly operation: string
  readonly request: unknown
  /** What it may get stuck on. While a killed child still hangs on it, no other child is sent there. */
  readonly place: string
  /** It is given up when nothing was heard of it for so long. */
  readonly silenceMs: number
  readonly onProgress?: (entries: number) => void
}

export interface GuardedPoolOptions {
  readonly clock: Clock
  readonly log: Logger
  /** How a child is started: asked before the first one. */
  readonly argv: () => Promise<readonly string[]>
}

// More at once only thrash the disk of a small node. Who works longer than the patience, or is stuck, no longer counts.
const PLACES = 4
const PATIENCE_MS = 1000
// Stuck ones are killed when their silence is over, so this many at once is far beyond any sane node.
const MAX_WORKING = 32
// How long a killed child may take to be gone before its place counts as stuck.
const DEATH_MS = 1000
// A wave of pods finds the children of the pod before; an idle agent has none.
const IDLE_MS = 5000

interface Idle {
  readonly child: GuardedProcess
  readonly scope: AbortScope
}

/** Child processes for work that may hang: started when none is idle, killed when late, never waited for once killed. */
export class GuardedPool implements Disposable {
  readonly #options: GuardedPoolOptions
  readonly #turnstile: Turnstile
  readonly #limit: Turnstile
  readonly #idle: Idle[] = []
  readonly #working = new Set<GuardedProcess>()
  readonly #dying = new Map<string, Promise<unknown>>()
  readonly #closed = new AbortController()
  #argv: Promise<readonly string[]> | undefined

  constructor(options: GuardedPoolOptions) {
    this.#options = options
    const { clock } = options
    this.#turnstile = new Turnstile({ places: PLACES, patienceMs: PATIENCE_MS, clock })
    this.#limit = new Turnstile({ places: MAX_WORKING, patienceMs: Number.POSITIVE_INFINITY, clock })
  }

  /** Children there are: at work, idle, and killed but not yet dead. */
  get size() {
    return { working: this.#working.size, idle: this.#idle.length, dying: this.#dying.size }
  }

  async run(task: GuardedTask, signal: AbortSignal): Promise<unknown> {
    return await this.#turnstile.runInTurn(
      0,
      () => this.#limit.runInTurn(0, () => this.#runNow(task, signal), signal),
      signal,
    )
  }

  async #runNow(task: GuardedTask, signal: AbortSignal): Promise<unknown> {
    this.#closed.signal.throwIfAborted()
    await this.#waitForDeath(task, signal)
    this.#argv ??= this.#options.argv()
    const argv = await this.#argv
    this.#closed.signal.throwIfAborted()
    const child = this.#takeIdle() ?? new GuardedProcess(argv)
    this.#working.add(child)
    try {
      const result = await this.#watch(task, child, signal)
      this.#keep(child)
      return result
    } catch (error) {
      if (error instanceof GuardedFileError) this.#keep(child)
      else this.#giveUp(task, child)
      throw error
    } finally {
      this.#working.delete(child)
    }
  }

  /** The answer of the child, or a failure when it is silent for too long or the caller no longer wants it. */
  async #watch(task: GuardedTask, child: GuardedProcess, signal: AbortSignal): Promise<unknown> {
    using scope = new AbortScope(signal)
    let heard = 0
    const answer = child.run({ operation: task.operation, request: task.request }, (entries) => {
      heard += 1
      task.onProgress?.(entries)
    })
    answer.catch(() => {}) // The answer to one that was given up has no reader.
    const watch = async (): Promise<never> => {
      for (let before = -1; before !== heard;) {
        before = heard
        await this.#options.clock.sleep(task.silenceMs, scope.signal)
      }
      throw new DeadlineError(`Cannot finish ${name(task)}: nothing heard for ${task.silenceMs} ms`)
    }
    const late = watch()
    late.catch(() => {})
    return await Promise.race([answer, late])
  }

  #takeIdle(): GuardedProcess | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      idle.scope[Symbol.dispose]()
      if (!idle.child.isGone) return idle.child
    }
    return undefined
  }

  #keep(child: GuardedProcess): void {
    if (child.isGone) return
    if (this.#idle.length >= PLACES || this.#closed.signal.aborted) return child.kill()
    const idle: Idle = { child, scope: new AbortScope(this.#closed.signal) }
    this.#idle.push(idle)
    this.#options.clock.sleep(IDLE_MS, idle.scope.signal).then(
      () => {
        this.#idle.splice(this.#idle.indexOf(idle), 1)
        idle.scope[Symbol.dispose]()
        child.kill()
      },
      () => {},
    )
  }

  #giveUp(task: GuardedTask, child: GuardedProcess): void {
    child.kill()
    const { place, operation } = task
    this.#options.log.debug('child process of file work given up', { operation, place })
    const dead = Promise.all([this.#dying.get(place), child.gone]).then(() => {
      if (this.#dying.get(place) === dead) this.#dying.delete(place)
    })
    this.#dying.set(place, dead)
  }

  /** One that was killed on the same place: usually gone at once, but in an uninterruptible call it stays, and a second one would too. */
  async #waitForDeath(task: GuardedTask, signal: AbortSignal): Promise<void> {
    const dead = this.#dying.get(task.place)
    if (dead === undefined) return
    const what = `what hangs in the kernel on "${task.place}" since an earlier attempt`
    await withDeadline({ clock: this.#options.clock, ms: DEATH_MS, what }, () => dead, signal)
  }

  /** Kills all children; what they were doing fails. Nothing is waited for. */
  [Symbol.dispose](): void {
    this.#closed.abort(new GuardedFileError('Cannot work on files: the agent is leaving'))
    for (const { child } of this.#idle.splice(0)) child.kill()
    for (const child of this.#working) child.kill()
  }
}

function name({ operation, place }: GuardedTask): string {
  return `"${operation}" of "${place}"`
}
