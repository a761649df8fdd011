import type { CpuTopology } from '../../src/node/cpus/cpu-topology.ts'
import { MACHINES } from '../builders/cpu-machines.ts'
import type { FakeCpuNode } from '../fakes/fake-cpu-node.ts'
import type { AgentOptions, World } from './create-agent.ts'

/** The static policy; CPUs 0-7 unless the test says otherwise, of which 0 is reserved; the record lies on a disk that outlives the agents. */
export function staticCpus(
  { otherFiles }: World,
  disk: FakeCpuNode,
  cpuPlaces: CpuTopology = MACHINES['one socket'],
): AgentOptions {
  otherFiles.set('cpu_manager_state', disk.store)
  return { cpuPlaces, flags: ['--cpu-manager-policy=static', '--reserved-cpus=0'] }
}
