import type { Clock } from '../../base/async/clock.ts'

export interface NodeStartupDeps {
  /** In milliseconds since the epoch, as the next; undefined when it is not known. */
  readonly bootedAt: number | undefined
  readonly startedAt: number
  readonly onStep: (
    step: 'pre_kubelet' | 'pre_registration' | 'registration' | 'post_registration' | 'whole',
    seconds: number,
  ) => void
  readonly clock: Clock
}

/** Times the way of a new node into its cluster. A node that was there before is not timed. */
export class NodeStartup {
  readonly #deps: NodeStartupDeps
  #triedAt: number | undefined
  #madeAt: number | undefined
  #isReady = false

  constructor(deps: NodeStartupDeps) {
    this.#deps = deps
  }

  /** The Node object is about to be made. */
  tries(): void {
    this.#triedAt ??= this.#deps.clock.now()
  }

  /** The Node object was made, by this agent. */
  made(): void {
    const { bootedAt, startedAt, clock } = this.#deps
    if (this.#triedAt === undefined || this.#madeAt !== undefined) return
    this.#madeAt = clock.now()
    this.#report('pre_kubelet', bootedAt, startedAt)
    this.#report('pre_registration', startedAt, this.#triedAt)
    this.#report('registration', this.#triedAt, this.#madeAt)
  }

  /** The Node was reported to the API as ready. */
  ready(): void {
    if (this.#madeAt === undefined || this.#isReady) return
    this.#isReady = true
    const now = this.#deps.clock.now()
    this.#report('post_registration', this.#madeAt, now)
    this.#report('whole', this.#deps.bootedAt, now)
  }

  #report(step: Parameters<NodeStartupDeps['onStep']>[0], from: number | undefined, to: number): void {
    if (from !== undefined) this.#deps.onStep(step, Math.max(0, to - from) / 1000)
  }
}
