import type { GrpcCode } from '../../protocols/grpc/grpc-code.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { CriMethod, CriResponse } from '../../protocols/cri/cri-methods.ts'
import type { DeepPartial } from '../../protocols/cri/generated/runtime-v1.ts'
import { SimulatedFault } from './simulated-fault.ts'

interface Failure {
  readonly error: SimulatedFault
  times: number
}

/** Faults that are planned for the calls of a simulated runtime. */
export class FaultScript {
  readonly #clock: Clock
  readonly #failures = new Map<CriMethod, Failure>()
  readonly #delays = new Map<CriMethod, number>()
  readonly #replies = new Map<CriMethod, object>()
  readonly #changes = new Map<CriMethod, (reply: object) => object>()
  readonly #held = new Map<CriMethod, Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The next calls of a method fail: so many of them, or all until heal(). */
  fail(method: CriMethod, code: GrpcCode, details: string, times = Infinity): void {
    this.#failures.set(method, { error: new SimulatedFault(code, details), times })
  }

  /** Calls of a method take so much longer, by its clock. */
  delay(method: CriMethod, ms: number): void {
    this.#delays.set(method, ms)
  }

  /** Calls of a method wait until the returned function is called. */
  hold(method: CriMethod): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held.set(method, promise)
    return () => {
      this.#held.delete(method)
      resolve()
    }
  }

  /** The method is answered with this, whatever the truth is. */
  answer<M extends CriMethod>(method: M, reply: DeepPartial<CriResponse<M>>): void {
    this.#replies.set(method, reply as object)
  }

  /** The true answers of a method are changed in this way. */
  alter<M extends CriMethod>(method: M, change: (reply: CriResponse<M>) => object): void {
    this.#changes.set(method, change as (reply: object) => object)
  }

  altered(method: CriMethod, reply: object): object {
    return this.#changes.get(method)?.(reply) ?? reply
  }

  replyTo(method: CriMethod): object | undefined {
    return this.#replies.get(method)
  }

  /** Nothing is planned for the method any more. */
  heal(method: CriMethod): void {
    this.#failures.delete(method)
    this.#delays.delete(method)
    this.#replies.delete(method)
    this.#changes.delete(method)
  }

  /** What comes before a call is answered. */
  async before(method: CriMethod, signal: AbortSignal): Promise<void> {
    await this.#held.get(method)
    const delayMs = this.#delays.get(method)
    if (delayMs !== undefined) await this.#clock.sleep(delayMs, signal)
    const failure = this.#failures.get(method)
    if (failure === undefined || failure.times <= 0) return
    failure.times -= 1
    throw failure.error
  }
}
