import { parseCpuSet } from '../../src/model/resources/cpu-set.ts'
import { loadMemoryState } from '../../src/node/memory/load-memory-state.ts'
import { MemoryAssignments } from '../../src/node/memory/memory-assignments.ts'
import { createTestMemory } from '../builders/create-memory-policy.ts'
import type { FakeStateFile } from '../fakes/fake-state-file.ts'
import type { CpusParts, World } from './create-agent.ts'

/** Two nodes with 4 GiB each. */
const POLICY = createTestMemory([4, 4])

/** The static memory policy on the fake runtime; the file outlives the agents. */
export function staticMemory({ cri }: World, file: FakeStateFile) {
  return async ({ log, ...parts }: CpusParts) =>
    new MemoryAssignments({
      ...parts,
      log,
      policy: POLICY,
      recorded: await loadMemoryState({ file, log }, POLICY),
      write: (text) => file.write(text),
      readNodes: async ({ id }) => new Set(parseCpuSet(cri.runtime.containers.get(id)?.resources.cpusetMems ?? '')),
      periodMs: 10_000,
      metrics: { memoryGiven: () => {}, memoryRejected: () => {} },
    })
}
