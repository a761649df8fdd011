import type { Clock } from '../../base/async/clock.ts'
import type { DockerApi } from './api/docker-api.ts'
import type { DockerInfo } from './api/docker-types.ts'

const KEPT_MS = 60_000

/** What Docker says of itself; kept for a while, and asked for again after it was away. */
export class DaemonInfo {
  readonly #api: DockerApi
  readonly #clock: Clock
  #info: { readonly value: DockerInfo; readonly readAt: number } | undefined

  constructor(api: DockerApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  async info(signal: AbortSignal): Promise<DockerInfo> {
    const now = this.#clock.monotonic()
    if (this.#info === undefined || now - this.#info.readAt > KEPT_MS) {
      const value = await this.#api.json<DockerInfo>({ method: 'GET', path: '/info' }, signal)
      this.#info = { value, readAt: now }
    }
    return this.#info.value
  }

  /** Docker went away: what comes back may be another version with other settings. */
  forget(): void {
    this.#info = undefined
  }
}
