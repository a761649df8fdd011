/** Why a pod's containers are stopped for good. */
export type TerminationCause = 'removed' | 'deleted' | 'finished' | 'orphaned' | 'evicted'

/**
 * The outer life of a pod on this node, one value, never backwards:
 *
 *   waiting ──▶ syncing ──▶ terminating ──▶ terminated ──▶ gone
 *
 * waiting: another pod of the same name has not ended yet. terminating: nothing new starts, what runs is stopped. terminated: nothing
 * runs; what is left stays for its readers while the pod is wanted. gone: nothing is left here, the worker ends.
 */
export type PodState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'syncing' }
  | { readonly kind: 'terminating'; readonly cause: TerminationCause; readonly graceSeconds: number | undefined }
  /** At: on the monotonic clock. */
  | { readonly kind: 'terminated'; readonly at: number }
  | { readonly kind: 'gone' }

/** The state after someone asks for the end of the pod; asking again only ever shortens the grace. */
export function computeTermination(
  state: PodState,
  request: { readonly cause: TerminationCause; readonly graceSeconds: number | undefined },
): PodState {
  switch (state.kind) {
    case 'waiting':
      return { kind: 'gone' }
    case 'syncing':
      return { kind: 'terminating', ...request }
    case 'terminating': {
      const { graceSeconds } = request
      if (graceSeconds === undefined || (state.graceSeconds !== undefined && state.graceSeconds <= graceSeconds))
        return state
      return { ...state, graceSeconds }
    }
    case 'terminated':
    case 'gone':
      return state
  }
}
