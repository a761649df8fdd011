import type { ContainerPort, LifecycleHandler } from '../generated/core-v1.ts'
import type { PodUid } from './pod.ts'
import type { UserNamespaceMapping } from './user-namespace.ts'

/** Resources in the kernel's terms; 0 is what is not set. */
export interface AppliedResources {
  readonly cpuShares: bigint
  /** Negative: no limit. */
  readonly cpuQuota: bigint
  readonly cpuPeriod: bigint
  readonly memoryLimitBytes: bigint
}

/** The part of a spec that the runtime keeps with a container, for an agent that knows nothing else of it. */
export interface KeptSpec {
  readonly deletionGracePeriodSeconds?: number
  readonly terminationGracePeriodSeconds?: number
  readonly preStop?: LifecycleHandler
  readonly ports?: readonly ContainerPort[]
}

/** One instance of a container as the runtime has it. Times are milliseconds since the epoch, with fractions. */
export interface ObservedContainer {
  readonly id: string
  readonly name: string
  readonly sandboxId: string
  readonly state: 'created' | 'running' | 'exited' | 'unknown'
  /** Which image and name it was made from (see container-hash.ts); empty when the runtime has no such note. */
  readonly hash: string
  readonly restartCount: number
  readonly createdAt: number
  readonly startedAt: number
  /** On the monotonic clock: since when it has run, as this agent saw it; 0 when it does not run. Before this agent, as the runtime says. */
  readonly runsSince: number
  readonly finishedAt: number
  /** On the monotonic clock: when this agent first saw that it had ended; 0 when it has not. The runtime may have a clock of its own. */
  readonly endSeenAt: number
  readonly exitCode: number
  readonly reason: string
  readonly message: string
  readonly image: string
  readonly imageRef: string
  readonly logPath: string
  /** The file on the node that takes the container's termination message; empty when it has none. */
  readonly terminationLog: string
  /** What the runtime says it has set for the container; undefined when it says nothing. */
  readonly applied?: AppliedResources | undefined
  /** Which devices it was made with, as a note that the runtime keeps; undefined when it has none. */
  readonly devices?: string | undefined
  /** The signal that stops it, when it is not the usual one and the runtime reports it. */
  readonly stopSignal?: string | undefined
  /** Paths inside it at which mounts are read-only to their depths. */
  readonly recursiveReadOnly?: readonly string[] | undefined
  /** The images that are mounted in it, by the path inside it. */
  readonly mountedImages?: ReadonlyMap<string, string> | undefined
  /** Its start ended with its caller, at a moment at which its program may have begun: an exit for those that run once, no start at all for the others. */
  readonly isBrokenOff?: boolean | undefined
  /** What it was made with and is needed to stop it well; only of one in an unknown state, or with a preStop hook. */
  readonly keptSpec?: KeptSpec | undefined
  readonly user?:
    | { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] }
    | undefined
}

/** One sandbox (the pod's namespaces and network) as the runtime has it. */
export interface ObservedSandbox {
  readonly id: string
  readonly attempt: number
  readonly ready: boolean
  readonly createdAt: number
  /** An earlier agent made it: only the runtime knows when. */
  readonly isAdopted?: boolean | undefined
  readonly hostNetwork: boolean
  /** Undefined when the runtime says nothing about the network of this sandbox. */
  readonly ips: readonly string[] | undefined
  /** Which way of running pods it was made with, for other ones than the usual. */
  readonly runtimeHandler?: string | undefined
  /** Undefined for a sandbox that shares the users of the node. */
  readonly userNamespace?: UserNamespaceMapping | undefined
}

/** What the runtime really has of one pod: an immutable snapshot, sandboxes and containers newest first. */
export interface ObservedPod {
  readonly uid: PodUid
  readonly name: string
  readonly namespace: string
  readonly sandboxes: readonly ObservedSandbox[]
  readonly containers: readonly ObservedContainer[]
}

/** What is seen of a pod that the runtime does not know. */
export function emptyObservedPod(pod: {
  readonly uid: PodUid
  readonly name: string
  readonly namespace: string
}): ObservedPod {
  return { uid: pod.uid, name: pod.name, namespace: pod.namespace, sandboxes: [], containers: [] }
}

/** The newest instance of a container, or undefined when it was never made. */
export function newestInstance(observed: ObservedPod, name: string): ObservedContainer | undefined {
  return observed.containers.find((container) => container.name === name)
}

/** True while anything of the pod still runs. */
export function hasRunningParts(observed: ObservedPod): boolean {
  return observed.containers.some(({ state }) => state === 'running') || observed.sandboxes.some(({ ready }) => ready)
}

/** Ready sandboxes behind a newer ready one, and without a container: made by a call that seemed to have failed. */
export function surplusSandboxes({ sandboxes, containers }: ObservedPod): readonly ObservedSandbox[] {
  const [latest, ...older] = sandboxes
  if (latest?.ready !== true) return []
  return older.filter(({ id, ready }) => ready && containers.every(({ sandboxId }) => sandboxId !== id))
}
