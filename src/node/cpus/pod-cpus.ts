import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { CpuPoolStats } from '../../metrics/placement-metrics.ts'
import type { HintProvider } from '../placement/hint-provider.ts'

/** Knows which container may run on which CPU, as callers see it. */
export interface PodCpus extends HintProvider {
  /** The pod runs already: it keeps what it has. */
  adopt(pod: Pod): void
  /** Reads what runs before any pod is desired. */
  adoptRunning(running: readonly ObservedPod[], signal: AbortSignal): Promise<void>
  /** All desired pods have been seen: the CPUs of other pods are free once those have ended. */
  sourcesReady(): void
  /** A container started or ended. */
  wake(): void
  /** The CPUs of a container; empty when it may run on all. */
  cpusOf(uid: PodUid, container: string): string
  /** The same for one that is about to be made; resolves when it is recorded, so that no later agent gives them away. */
  prepare(uid: PodUid, container: string): Promise<{ readonly cpus: string; readonly exclusive: boolean } | undefined>
  /** Has a container of the pod CPUs for itself, so that a quota would only slow it down? */
  hasExclusive(uid: PodUid): boolean
  /** The CPUs that only this container has. */
  exclusiveOf(uid: PodUid, container: string): readonly number[]
  /** All CPUs that can be given to one container alone. */
  allocatable(): readonly number[]
  stats(): CpuPoolStats
  run(signal: AbortSignal): Promise<void>
}
