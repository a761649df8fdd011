import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** Logs a repeated attempt: when it begins to fail, when it fails in another way, and when it works again. */
export class FailureLog {
  readonly #log: Logger
  readonly #what: string
  #last: string | undefined

  constructor(log: Logger, what: string) {
    this.#log = log
    this.#what = what
  }

  failed(error: unknown): void {
    const text = errorMessage(error)
    if (text === this.#last) return
    this.#last = text
    this.#log.warn(`cannot ${this.#what}, will try again`, { error })
  }

  worked(): void {
    if (this.#last !== undefined) this.#log.info(`can ${this.#what} again`)
    this.#last = undefined
  }
}
