import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { HintProvider } from '../placement/hint-provider.ts'
import type { MemoryBlock } from './memory-state.ts'

/** Knows which container has memory of which NUMA nodes, as callers see it. */
export interface PodMemory extends HintProvider {
  /** The pod runs already: it keeps what it has. */
  adopt(pod: Pod): void
  /** Reads what runs before any pod is desired. */
  adoptRunning(running: readonly ObservedPod[], signal: AbortSignal): Promise<void>
  /** All desired pods have been seen: the memory of other pods is free once those have ended. */
  sourcesReady(): void
  /** A container started or ended. */
  wake(): void
  /** The nodes of a container that is about to be made, "0,1"; empty when it may use all. Resolves when they are recorded. */
  prepare(uid: PodUid, container: string): Promise<string>
  /** The memory that only this container has. */
  blocksOf(uid: PodUid, container: string): readonly MemoryBlock[]
  /** All memory that can be given to containers, by node and kind. */
  allocatable(): readonly MemoryBlock[]
  run(signal: AbortSignal): Promise<void>
}
