import { isFatal } from './abort-errors.ts'

/** Decides what becomes of the failures of a group's tasks, so that they do not end the others. */
export interface Supervisor {
  /** A task failed, which nothing repeats. */
  taskFailed(name: string, error: unknown): void
  /** Runs a loop until the signal aborts, again after each failure that is not fatal. */
  runLoop(name: string, loop: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>
}

/**
 * Owns the promises of long work. The first failure aborts the others, unless there is a supervisor: then only a fatal one, or that of an
 * essential task, does. join() waits for all and throws what failed. Leaving the block (await using) aborts what still runs and waits for it.
 */
export class TaskGroup implements AsyncDisposable {
  readonly #controller = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #errors: Error[] = []
  readonly #parent: AbortSignal
  readonly #follow: () => void
  readonly #supervisor: Supervisor | undefined

  constructor(parent: AbortSignal, supervisor?: Supervisor) {
    this.#parent = parent
    this.#supervisor = supervisor
    this.#follow = () => this.#controller.abort(parent.reason)
    if (parent.aborted) this.#follow()
    else parent.addEventListener('abort', this.#follow, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get size(): number {
    return this.#running.size
  }

  /** Work with an end. */
  run(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    const supervisor = this.#supervisor
    if (supervisor === undefined) this.runEssential(name, task)
    else this.#own(task, (error) => (isFatal(error) ? this.#fail(name, error) : supervisor.taskFailed(name, error)))
  }

  /** Work that goes on until the signal aborts. */
  runLoop(name: string, loop: (signal: AbortSignal) => Promise<void>): void {
    const supervisor = this.#supervisor
    this.run(name, supervisor === undefined ? loop : (signal) => supervisor.runLoop(name, loop, signal))
  }

  /** Work without which the others make no sense. */
  runEssential(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    this.#own(task, (error) => this.#fail(name, error))
  }

  #fail(name: string, cause: unknown): void {
    const failure = new Error(`Task "${name}" failed`, { cause })
    this.#errors.push(failure)
    this.#controller.abort(failure)
  }

  #own(task: (signal: AbortSignal) => Promise<void>, onFailure: (error: unknown) => void): void {
    const running: Promise<void> = Promise.try(task, this.signal)
      .catch((error: unknown) => {
        if (!this.signal.aborted || error !== this.signal.reason) onFailure(error)
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async join(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
    this.#parent.removeEventListener('abort', this.#follow)
    // Each failure is thrown once: the end of the block joins again, and must not cover what was thrown already.
    const errors = this.#errors.splice(0)
    const [first, ...others] = errors
    if (first === undefined) return
    throw others.length === 0 ? first : new AggregateError(errors, 'Several tasks failed')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort(new Error('Group ended'))
    await this.join()
  }
}
