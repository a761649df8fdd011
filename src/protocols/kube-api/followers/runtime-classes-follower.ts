import type { ObjectMeta } from '../../../model/generated/core-v1.ts'
import { runListWatch } from '../list-watch/run-list-watch.ts'
import type { FollowerDeps } from './follower-deps.ts'
import { ObjectCache } from './object-cache.ts'

/** What a node needs of a RuntimeClass. */
interface RuntimeClass {
  readonly metadata?: ObjectMeta | undefined
  /** The runtime's name for it. */
  readonly handler: string
}

type Found =
  | { readonly kind: 'found'; readonly value: { readonly handler: string } }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unavailable'; readonly why: string }

/** The runtime classes of a cluster: what pods call the ways to be isolated. */
export class RuntimeClassesFollower {
  readonly #deps: FollowerDeps
  readonly #classes = new ObjectCache<RuntimeClass>()

  constructor(deps: FollowerDeps) {
    this.#deps = deps
  }

  get hasSynced(): boolean {
    return this.#classes.hasSynced
  }

  find(name: string): Found {
    if (!this.hasSynced)
      return { kind: 'unavailable', why: 'runtime classes have not been read from the API server yet' }
    const found = this.#classes.get('', name)
    return found === undefined ? { kind: 'missing' } : { kind: 'found', value: { handler: found.handler } }
  }

  run(signal: AbortSignal): Promise<never> {
    return runListWatch<RuntimeClass>(
      {
        ...this.#deps,
        path: '/apis/node.k8s.io/v1/runtimeclasses',
        onReplace: (items) => this.#classes.replace(items),
        onEvent: (event) => this.#classes.apply(event),
      },
      signal,
    )
  }
}
