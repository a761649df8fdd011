import { TaskGroup } from '../base/async/task-group.ts'
import type { CpusetAssignment } from '../pods/containers/compute-container-resources.ts'
import { createCpus } from '../node/cpus/create-cpus.ts'
import type { CreateCpusDeps } from '../node/cpus/create-cpus.ts'
import { createMemory } from '../node/memory/create-memory.ts'
import type { CreateMemoryDeps } from '../node/memory/create-memory.ts'
import type { NumaNode } from '../system/machine/hardware/read-numa-nodes.ts'
import type { ObservedPod } from '../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../model/pod/pod.ts'
import type { PodCpus } from '../node/cpus/pod-cpus.ts'
import type { PodMemory } from '../node/memory/pod-memory.ts'
import { createPlacement } from '../node/placement/create-placement.ts'
import type { PlacementDeps } from '../node/placement/create-placement.ts'
import type { HintProvider } from '../node/placement/hint-provider.ts'
import { toPlacementPolicy } from '../node/placement/to-placement-policy.ts'
import type { PlacementMetrics } from '../metrics/placement-metrics.ts'

interface OpenPlacementDeps extends CreateCpusDeps, Omit<CreateMemoryDeps, 'nodes'> {
  readonly metrics: CreateCpusDeps['metrics'] & CreateMemoryDeps['metrics'] & PlacementMetrics
  readonly host: CreateCpusDeps['host'] & CreateMemoryDeps['host'] & { numaNodes(): readonly NumaNode[] }
  /** Those who give before CPUs and memory are given. */
  readonly others: readonly HintProvider[]
}

/** What containers get of certain parts of the machine: CPUs, memory, and where they are. */
export async function openPlacement(deps: OpenPlacementDeps) {
  const nodes = deps.host.numaNodes()
  const policy = toPlacementPolicy(deps.settings, nodes)
  return joinPlacement({
    ...deps,
    policy,
    cpus: await createCpus(deps),
    memory: await createMemory({ ...deps, nodes }),
  })
}

interface JoinPlacementDeps extends Omit<PlacementDeps, 'providers'> {
  readonly others: readonly HintProvider[]
  readonly cpus: PodCpus
  readonly memory: PodMemory
}

/** All who give something as one. */
function joinPlacement({ others, cpus, memory, ...deps }: JoinPlacementDeps) {
  return {
    ...createPlacement({ ...deps, providers: [...others, cpus, memory] }),
    cpus,
    memory,
    adopt(pod: Pod): void {
      cpus.adopt(pod)
      memory.adopt(pod)
    },
    async adoptRunning(running: readonly ObservedPod[], signal: AbortSignal): Promise<void> {
      await cpus.adoptRunning(running, signal)
      await memory.adoptRunning(running, signal)
    },
    sourcesReady(): void {
      cpus.sourcesReady()
      memory.sourcesReady()
    },
    wake(): void {
      cpus.wake()
      memory.wake()
    },
    hasExclusive: (uid: PodUid) => cpus.hasExclusive(uid),
    async prepare(uid: PodUid, container: string): Promise<CpusetAssignment | undefined> {
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
