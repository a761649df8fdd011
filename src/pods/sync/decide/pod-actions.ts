import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import type { ContainerKind } from '../../../model/pod/pod-containers.ts'

/** No limit is more than any limit. */
export type ResizeDirection = 'grows' | 'shrinks'

/** Why a running container is stopped while its pod lives on. */
export type KillCause = 'changed' | 'liveness' | 'postStart' | 'resize' | 'startup' | 'surplus' | 'unknown'

export interface ContainerKill {
  readonly id: string
  readonly name: string
  readonly cause: KillCause
  /** The text of the event that users see. */
  readonly message: string
}

export interface ContainerStart {
  readonly kind: ContainerKind
  readonly name: string
  /** On the monotonic clock: when the end of the instance that this one follows was seen; undefined for a first start. */
  readonly previousEndedAt: number | undefined
  /** That instance never started: its start ended with its caller. */
  readonly isBrokenOff?: boolean
}

/** A container that would start if its crash back-off were over. */
export interface ContainerBackOff {
  readonly kind: ContainerKind
  readonly name: string
  /** On the monotonic clock. */
  readonly untilMs: number
  readonly delayMs: number
}

/** All containers of the pod are to restart in their sandbox, so that every instance goes first. */
export interface ContainerReset {
  /** Those whose end asked for it: for them it is a start after a crash. */
  readonly triggers: readonly ContainerStart[]
  /** Instances to stop and remove, one group after the other; what asked for it goes last. */
  readonly groups: readonly (readonly ObservedContainer[])[]
}

/** A container that runs and gets other resources while it does. */
export interface ContainerResizeAction {
  readonly id: string
  readonly name: string
  readonly cpu: ResizeDirection | undefined
  readonly memory: ResizeDirection | undefined
}

/** The pod has another size than it was granted: it as a whole, and of what runs these. */
export interface PodResizeActions {
  readonly updates: readonly ContainerResizeAction[]
}

/** Everything one pass over a pod does, decided before any of it is done. */
export interface PodActions {
  /** Stop all containers and sandboxes first. */
  readonly killPod: boolean
  readonly createSandbox: boolean
  /** The sandbox in which containers start when none is created; empty when there is none. */
  readonly sandboxId: string
  readonly attempt: number
  readonly kill: readonly ContainerKill[]
  readonly reset: ContainerReset | undefined
  readonly resize: PodResizeActions | undefined
  /** In the order of starting: ephemeral, init, regular. */
  readonly start: readonly ContainerStart[]
  readonly backingOff: readonly ContainerBackOff[]
  /** Nothing more can run in the pod: it has ended, although not every container has. */
  readonly ended: boolean
}

/** A pass that finds nothing to do. */
export const NO_ACTIONS: PodActions = {
  killPod: false,
  createSandbox: false,
  sandboxId: '',
  attempt: 0,
  kill: [],
  reset: undefined,
  resize: undefined,
  start: [],
  backingOff: [],
  ended: false,
}
