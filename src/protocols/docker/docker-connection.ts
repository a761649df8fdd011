import type { Clock } from '../../base/async/clock.ts'
import { BackOff } from '../../base/async/back-off.ts'
import type { GrpcConnection } from '../grpc/grpc-connection.ts'
import type { DockerApi } from './api/docker-api.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'

const RETRIES = { firstMs: 100, longestMs: 3000 }

/**
 * Whether Docker is there. HTTP has no connection that lasts, so while a caller waits for a change, a stream of events that never come is
 * held open: it ends with Docker.
 */
export class DockerConnection implements GrpcConnection {
  readonly #api: DockerApi
  readonly #clock: Clock
  readonly #end = new AbortController()
  readonly #waiting = new Set<() => void>()
  #connected = false
  #watching = false

  constructor(api: DockerApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  get connected(): boolean {
    return this.#connected && !this.closed
  }

  get closed(): boolean {
    return this.#end.signal.aborted
  }

  /** A request reached Docker, or did not. */
  note(connected: boolean): void {
    if (connected === this.#connected) return
    this.#connected = connected
    for (const resolve of this.#waiting) resolve()
  }

  async nextChange(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    this.#end.signal.addEventListener('abort', () => resolve(), { once: true, signal })
    try {
      if (this.closed) return
      this.#watch()
      await waitForShared(promise, signal)
    } finally {
      this.#waiting.delete(resolve)
    }
  }

  #watch(): void {
    if (this.#watching) return
    this.#watching = true
    this.#run(this.#end.signal)
      .catch(() => {})
      .finally(() => (this.#watching = false))
  }

  /** Ends when no caller waits any more and the state is known. */
  async #run(signal: AbortSignal): Promise<void> {
    const backOff = new BackOff(RETRIES)
    while (!signal.aborted && this.#waiting.size > 0) {
      try {
        await this.#hold(signal, () => backOff.reset())
      } catch {
        this.note(false)
        await this.#clock.sleep(backOff.next(), signal)
      }
    }
  }

  async #hold(signal: AbortSignal, onStanding: () => void): Promise<void> {
    const filters = JSON.stringify({ type: ['daemon'], event: ['none'] })
    const response = await this.#api.open({ method: 'GET', path: '/events', query: { filters } }, signal)
    this.note(true)
    onStanding()
    for await (const _ of response) {
      // Nothing matches the filter.
    }
    throw new Error('Docker ended the stream')
  }

  close(): void {
    this.#end.abort(new Error('The connection was closed'))
    this.note(false)
  }
}
