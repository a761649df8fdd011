import { TaskGroup } from '../../base/async/task-group.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { createPlacement } from './create-placement.ts'
import type { PlacementDeps } from './create-placement.ts'
import type { HintProvider } from './hint-provider.ts'

/** Gives parts of the machine, and remembers which pod has which. */
interface PlaceKeeper extends HintProvider {
  adopt(pod: Pod): void
  adoptRunning(running: readonly ObservedPod[], signal: AbortSignal): Promise<void>
  sourcesReady(): void
  wake(): void
  run(signal: AbortSignal): Promise<void>
}

interface CpuKeeper extends PlaceKeeper {
  prepare(uid: PodUid, container: string): Promise<{ readonly cpus: string; readonly exclusive: boolean } | undefined>
  hasExclusive(uid: PodUid): boolean
}

interface MemoryKeeper extends PlaceKeeper {
  prepare(uid: PodUid, container: string): Promise<string>
}

export interface JoinPlacementDeps<C, M> extends Omit<PlacementDeps, 'providers'> {
  /** Those who give before CPUs and memory are given. */
  readonly others: readonly HintProvider[]
  readonly cpus: C
  readonly memory: M
}

/** All who give something with a place in the machine, as one. */
export function joinPlacement<C extends CpuKeeper, M extends MemoryKeeper>(deps: JoinPlacementDeps<C, M>) {
  const { others, cpus, memory } = deps
  return {
    ...createPlacement({ ...deps, providers: [...others, cpus, memory] }),
    cpus,
    memory,
    /** The pod runs already: it keeps what it has. */
    adopt(pod: Pod): void {
      cpus.adopt(pod)
      memory.adopt(pod)
    },
    /** Reads what runs before any pod is desired. */
    async adoptRunning(running: readonly ObservedPod[], signal: AbortSignal): Promise<void> {
      await cpus.adoptRunning(running, signal)
      await memory.adoptRunning(running, signal)
    },
    /** All desired pods have been seen: what other pods have is free once those have ended. */
    sourcesReady(): void {
      cpus.sourcesReady()
      memory.sourcesReady()
    },
    /** A container started or ended. */
    wake(): void {
      cpus.wake()
      memory.wake()
    },
    hasExclusive: (uid: PodUid) => cpus.hasExclusive(uid),
    /** Where a container that is about to be made may run; undefined when anywhere. Resolves when that is recorded. */
    async prepare(uid: PodUid, container: string) {
      const [own, mems] = await Promise.all([cpus.prepare(uid, container), memory.prepare(uid, container)])
      return own === undefined && mems === '' ? undefined : { cpus: '', exclusive: false, ...own, mems }
    },
    async run(signal: AbortSignal): Promise<void> {
      await using group = new TaskGroup(signal)
      group.run('CPUs', (s) => cpus.run(s))
      group.run('memory of NUMA nodes', (s) => memory.run(s))
      await group.join()
    },
  }
}
