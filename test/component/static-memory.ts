import { createNumaPlaces } from '../builders/placement-hints.ts'
import type { FakeStateFile } from '../fakes/fake-state-file.ts'
import type { AgentOptions, World } from './create-agent.ts'

const GIB = 2n ** 30n

/** The static memory policy on two nodes with 4 GiB each for containers; the file outlives the agents. */
export function staticMemory({ otherFiles }: World, file: FakeStateFile): AgentOptions {
  otherFiles.set('memory_manager_state', file)
  return {
    numaNodes: createNumaPlaces(2).map(({ id, distances }) => ({
      id,
      distances,
      memoryBytes: (id === 0 ? 5n : 4n) * GIB,
      hugepages: [],
    })),
    flags: ['--memory-manager-policy=Static', '--reserved-memory=0:memory=1Gi', '--kube-reserved=memory=1Gi'],
  }
}
