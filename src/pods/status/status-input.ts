import type { PodCondition, PodStatus, ResourceStatus } from '../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** The state of a container that was removed to restart with all others of its pod. */
export const RESTARTING_ALL = 'RestartingAllContainers'

/** Why a container does not run although it should, in the words that users see. */
export interface WaitingReason {
  readonly reason: string
  readonly message: string
}

/** What something outside of the pod decided about it. */
export interface PhaseOverride {
  readonly phase: string
  readonly reason: string
  readonly message: string
  /** What the condition DisruptionTarget says: the node takes the pod away for the sake of others. Without, there is no such condition. */
  readonly disruption?: string | undefined
  /** Containers that all ended well make the pod Succeeded nevertheless. */
  readonly yieldsToSuccess?: boolean
}

/** The parts of a status that the configuration switches on and off. */
export interface StatusSettings {
  /** Whether the condition PodReadyToStartContainers is reported. Parity: the gate PodReadyToStartContainersCondition. */
  readonly reportsSandbox: boolean
  /** Whether the digests of mounted images are reported. Parity: the gate ImageVolumeWithDigest. */
  readonly imageVolumeDigests: boolean
}

/** Everything a pod's status depends on. */
export interface StatusInput extends StatusSettings {
  /** With the resources that it was granted. */
  readonly pod: Pod
  readonly observed: ObservedPod
  /** The status last computed here, else the one that came with the pod. */
  readonly previous: PodStatus | undefined
  /** By container name: what went wrong at the last try to start it. */
  readonly waiting: ReadonlyMap<string, WaitingReason>
  /** By container id: what the probes say; a missing id means that nothing has to be asked. */
  readonly started: ReadonlyMap<string, boolean>
  readonly ready: ReadonlyMap<string, boolean>
  /** By container id: the termination message that the container wrote. */
  readonly terminationMessages: ReadonlyMap<string, string>
  /** What was last set for the pod and its containers; undefined when that is unknown. */
  readonly actuated: PodAllocation | undefined
  /** By container name: how the devices are that the container has. */
  readonly deviceHealth: ReadonlyMap<string, readonly ResourceStatus[]>
  /** What there is to say of resources that are asked for or on their way. */
  readonly resize: readonly PodCondition[]
  /** The pod has ended: its containers were stopped for good. */
  readonly ended: boolean
  /** The prefix of container ids: the runtime's name. */
  readonly runtimeName: string
  readonly nodeIps: readonly string[]
  readonly qosClass: string
  /** A phase that something decided from outside (eviction, deadline). */
  readonly override?: PhaseOverride | undefined
  readonly now: number
}
