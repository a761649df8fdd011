import type { Pod } from '../../model/pod/pod.ts'

export interface FreshNodeDeps {
  /** True for a new pod that only what is known of the node is against. */
  readonly wantsFreshNode: (pod: Pod) => boolean
  /** Asks the API for the Node object. */
  readonly refresh: () => Promise<void>
  readonly emit: (pods: readonly Pod[]) => void
}

/**
 * Hands sets of pods on, each after the other. A pod may be bound here because of a label, or the end of a taint, that the watch of the Node
 * has not delivered yet, and a rejection is for good: so the Node is asked for first. Of the sets that come meanwhile only the last counts.
 */
export function waitForFreshNode({ wantsFreshNode, refresh, emit }: FreshNodeDeps): (pods: readonly Pod[]) => void {
  let newest: readonly Pod[] | undefined
  let isAsking = false
  const ask = async () => {
    isAsking = true
    // An API that cannot be asked adds nothing: the pod is judged by what is known.
    await refresh().catch(() => {})
    isAsking = false
    const pods = newest
    newest = undefined
    if (pods !== undefined) emit(pods)
  }
  return (pods) => {
    if (isAsking) newest = pods
    else if (pods.some(wantsFreshNode)) {
      newest = pods
      void ask() // Never rejects.
    } else emit(pods)
  }
}
