import { waitForShared } from '../../../base/async/wait-for-shared.ts'
import type { Service } from '../../../model/generated/core-v1.ts'
import { runListWatch } from '../list-watch/run-list-watch.ts'
import type { FollowerDeps } from './follower-deps.ts'
import { ObjectCache } from './object-cache.ts'

/** The services of a cluster that have an address: what the environment of containers names. */
export class ServicesFollower {
  readonly #deps: FollowerDeps
  readonly #services = new ObjectCache<Service>()
  readonly #read = Promise.withResolvers<void>()

  constructor(deps: FollowerDeps) {
    this.#deps = deps
  }

  get hasSynced(): boolean {
    return this.#services.hasSynced
  }

  /** Of one namespace; empty until the first list. */
  list(namespace: string): readonly Service[] {
    return this.#services.values().filter(({ metadata }) => metadata?.namespace === namespace)
  }

  /** Of all namespaces, as a question that may have no answer yet. */
  lookup():
    | { readonly kind: 'found'; readonly value: readonly Service[] }
    | { readonly kind: 'unavailable'; readonly why: string } {
    if (this.hasSynced) return { kind: 'found', value: this.#services.values() }
    return { kind: 'unavailable', why: 'the API server has not listed them yet' }
  }

  /** Resolves when they were read at least once. */
  async untilRead(signal: AbortSignal): Promise<void> {
    await waitForShared(this.#read.promise, signal)
  }

  run(signal: AbortSignal): Promise<never> {
    return runListWatch<Service>(
      {
        ...this.#deps,
        path: '/api/v1/services',
        query: { fieldSelector: 'spec.clusterIP!=None' },
        onReplace: (items) => {
          this.#services.replace(items)
          this.#read.resolve()
        },
        onEvent: (event) => this.#services.apply(event),
      },
      signal,
    )
  }
}
