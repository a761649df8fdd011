/**
 * Owns the promises of long work. The first failure aborts the others; join() waits for all and throws what failed.
 * Leaving the block (await using) aborts what still runs and waits for it.
 */
export class TaskGroup implements AsyncDisposable {
  readonly #controller = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #errors: Error[] = []
  readonly #parent: AbortSignal
  readonly #follow: () => void

  constructor(parent: AbortSignal) {
    this.#parent = parent
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

  run(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    const running: Promise<void> = Promise.try(task, this.signal)
      .catch((error: unknown) => {
        if (this.signal.aborted && error === this.signal.reason) return
        const failure = new Error(`Task "${name}" failed`, { cause: error })
        this.#errors.push(failure)
        this.#controller.abort(failure)
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
