import type { Node } from '../../model/generated/core-v1.ts'
import type { FollowerDeps } from '../../protocols/kube-api/followers/follower-deps.ts'
import type { NodeFollower } from '../../protocols/kube-api/followers/node-follower.ts'
import { runListWatch } from '../../protocols/kube-api/list-watch/run-list-watch.ts'

type Listener = (node: Node | undefined) => void

/** The Node objects of all nodes of this process, by one watch. */
export class NodesFollower {
  readonly #deps: FollowerDeps & { readonly prefix: string }
  readonly #nodes = new Map<string, Node>()
  readonly #listeners = new Map<string, Set<Listener>>()
  #hasSynced = false

  constructor(deps: FollowerDeps & { readonly prefix: string }) {
    this.#deps = deps
  }

  /** One node as its own follower would have it. */
  of(name: string): Pick<NodeFollower, 'node' | 'hasSynced' | 'onChange'> {
    const hasSynced = () => this.#hasSynced
    return {
      node: () => this.#nodes.get(name),
      get hasSynced() {
        return hasSynced()
      },
      onChange: (listener) => {
        const listeners = this.#listeners.getOrInsertComputed(name, () => new Set())
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
  }

  /** How many of them are ready, as the API has it. */
  countReady(): number {
    return this.#nodes.values().filter(isReady).toArray().length
  }

  run(signal: AbortSignal): Promise<never> {
    return runListWatch<Node>(
      {
        ...this.#deps,
        path: '/api/v1/nodes',
        onReplace: (items) => {
          const found = new Map(items.map((node) => [node.metadata?.name ?? '', node]))
          for (const name of this.#nodes.keys()) if (!found.has(name)) this.#set(name, undefined)
          for (const [name, node] of found) this.#set(name, node)
          this.#hasSynced = true
          for (const [name, listeners] of this.#listeners)
            if (!found.has(name)) for (const listener of listeners) listener(undefined)
        },
        onEvent: ({ type, object }) => this.#set(object.metadata?.name ?? '', type === 'DELETED' ? undefined : object),
      },
      signal,
    )
  }

  /** Nodes of others are not kept. */
  #set(name: string, node: Node | undefined): void {
    if (!name.startsWith(this.#deps.prefix)) return
    if (node === undefined) this.#nodes.delete(name)
    else this.#nodes.set(name, node)
    for (const listener of this.#listeners.get(name) ?? []) listener(node)
  }
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
}
