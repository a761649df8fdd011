import type { Node } from '../../../model/generated/core-v1.ts'
import { watchObject } from '../list-watch/watch-object.ts'
import type { FollowerDeps } from './follower-deps.ts'

export interface NodeFollowerDeps extends FollowerDeps {
  readonly nodeName: string
}

/** This node's own object, which is the only one of its kind that a node may read. */
export class NodeFollower {
  readonly #deps: NodeFollowerDeps
  readonly #listeners = new Set<(node: Node | undefined) => void>()
  #node: Node | undefined
  #hasSynced = false

  constructor(deps: NodeFollowerDeps) {
    this.#deps = deps
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Undefined while nothing is known of it, and while it does not exist. */
  node(): Node | undefined {
    return this.#node
  }

  /** Calls back after each change, also when the object went; gives back how to end that. */
  onChange(listener: (node: Node | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  run(signal: AbortSignal): Promise<never> {
    return watchObject<Node>(
      {
        ...this.#deps,
        path: '/api/v1/nodes',
        name: this.#deps.nodeName,
        onObject: (node) => {
          this.#node = node
          this.#hasSynced = true
          for (const listener of this.#listeners) listener(node)
        },
      },
      signal,
    )
  }
}

/** For how long objects that pods refer to may be cached, as the cluster says by the annotation of a node; undefined when it says nothing. */
export function toTtlMs(node: Node | undefined): number | undefined {
  const seconds = Number(node?.metadata?.annotations?.['node.alpha.kubernetes.io/ttl'] ?? Number.NaN)
  return Number.isNaN(seconds) ? undefined : seconds * 1000
}
