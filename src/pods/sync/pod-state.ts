/** Why a pod's containers are stopped for good. */
export type TerminationCause = 'removed' | 'deleted' | 'finished' | 'orphaned' | 'evicted'

/**
 * What happens to a pod once it has ended.
 *
 * keep: its source still has it, so its last instances stay for their readers, and it never runs again. restart: the same, but it was ended
 * only because the machine shuts down, and runs again if the machine stays. readmit: it was let in and could not have what it was promised, such as
 * devices, and no controller replaces it: it is judged again. remove: its source no longer has it, and everything goes after
 * a moment. replace: the same at once, because a new worker waits for its place.
 */
type AfterEnd = 'keep' | 'restart' | 'readmit' | 'remove' | 'replace'

/** How much of an ended pod is gone: its processes, then its volumes, then all but what readers may want. */
export type CleanUpProgress = 'stopped' | 'unmounted' | 'cleaned'

export interface TerminatedState {
  readonly kind: 'terminated'
  /** On the monotonic clock. */
  readonly at: number
  readonly after: AfterEnd
  readonly progress: CleanUpProgress
  /** What readers may want of a pod that is kept; dropping: the node needs the room, and waits for it. */
  readonly remains: 'kept' | 'dropping' | 'dropped'
}

/**
 * The outer life of a pod on this node, one value, never backwards:
 *
 *   waiting ──▶ syncing ──▶ terminating ──▶ terminated ──▶ gone
 *
 * waiting: another pod of the same name has not ended yet. terminating: nothing new starts, what runs is stopped. terminated: nothing
 * runs; what is left stays for its readers while the pod is kept. gone: nothing is left here, the worker ends.
 */
export type PodState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'syncing' }
  | {
      readonly kind: 'terminating'
      readonly cause: TerminationCause
      readonly graceSeconds: number | undefined
      readonly after: AfterEnd
    }
  | TerminatedState
  | { readonly kind: 'gone' }

export interface TerminationRequest {
  readonly cause: TerminationCause
  readonly graceSeconds: number | undefined
  /** Of an eviction: the pod runs again when the reason for it has passed. */
  readonly restarts?: boolean
  /** The node judges again whether the pod may run. */
  readonly readmits?: boolean
}

/** The state of a pod of which nothing runs any more. */
export function terminatedAt(at: number, after: AfterEnd): TerminatedState {
  return { kind: 'terminated', at, after, progress: 'stopped', remains: 'kept' }
}

/** The state after a request for the end of the pod; a further request only ever shortens the grace. */
export function computeTermination(state: PodState, request: TerminationRequest): PodState {
  const { cause, graceSeconds } = request
  switch (state.kind) {
    case 'waiting':
      return { kind: 'gone' }
    case 'syncing':
      return { kind: 'terminating', cause, graceSeconds, after: computeAfter('keep', request) }
    case 'terminating': {
      const isLonger = graceSeconds === undefined || (state.graceSeconds ?? Infinity) <= graceSeconds
      const shortest = isLonger ? state.graceSeconds : graceSeconds
      return { ...state, graceSeconds: shortest, after: computeAfter(state.after, request) }
    }
    case 'terminated':
      return { ...state, after: computeAfter(state.after, request) }
    case 'gone':
      return state
  }
}

/** The source of a pod never takes it back; the newest eviction says whether the pod runs again. */
function computeAfter(before: AfterEnd, { cause, restarts = false, readmits = false }: TerminationRequest): AfterEnd {
  if (before === 'remove' || before === 'replace') return before
  if (cause === 'removed' || cause === 'orphaned') return 'remove'
  if (readmits) return 'readmit'
  return cause === 'evicted' ? (restarts ? 'restart' : 'keep') : before
}

/** A new worker waits for the place of a pod that its source no longer has. */
export function computeReplacement(state: PodState): PodState {
  const isEnding = state.kind === 'terminating' || state.kind === 'terminated'
  return isEnding && state.after === 'remove' ? { ...state, after: 'replace' } : state
}

/** The node needs the room of what is left of the pod. */
export function computeDrop(state: PodState): PodState {
  return state.kind === 'terminated' && state.remains === 'kept' ? { ...state, remains: 'dropping' } : state
}

/** The state after a step of cleaning up. What was removed and is there again starts the clean-up over. */
export function computeProgress(
  state: PodState,
  { progress, dropped }: { readonly progress: CleanUpProgress; readonly dropped: boolean },
): PodState {
  if (state.kind !== 'terminated') return state
  const remains = dropped ? 'dropped' : state.remains
  return progress === 'unmounted' && state.progress === 'cleaned' ? state : { ...state, progress, remains }
}

/** Its source still has the pod. */
export function isDesired(state: PodState): boolean {
  switch (state.kind) {
    case 'waiting':
    case 'syncing':
      return true
    case 'terminating':
    case 'terminated':
      return state.after !== 'remove' && state.after !== 'replace'
    case 'gone':
      return false
  }
}

/** It is ended, or ends, for reasons that may pass. */
export function runsAgain(state: PodState): boolean {
  return (state.kind === 'terminating' || state.kind === 'terminated') && ['restart', 'readmit'].includes(state.after)
}

/** Nothing of it runs any more, and the node judges again whether it may run. */
export function isReadmitted(state: PodState): boolean {
  return state.kind === 'terminated' && state.after === 'readmit'
}

/** Nothing of the pod runs any more. */
export function hasStopped({ kind }: PodState): boolean {
  return kind === 'terminated' || kind === 'gone'
}

/** Nothing of the pod runs any more, and none of its volumes is mounted. */
export function hasUnmounted(state: PodState): boolean {
  return state.kind === 'gone' || (state.kind === 'terminated' && state.progress !== 'stopped')
}

/** Nothing is left of the pod but what its readers may want. */
export function hasCleanedUp(state: PodState): boolean {
  return state.kind === 'terminated' && state.progress === 'cleaned'
}

/** Nothing is left of the pod, not even for its readers. */
export function hasDropped(state: PodState): boolean {
  return state.kind === 'gone' || (state.kind === 'terminated' && state.remains === 'dropped')
}
