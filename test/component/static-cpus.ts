import { parseCpuSet } from '../../src/model/resources/cpu-set.ts'
import { CpuAssignments } from '../../src/node/cpus/cpu-assignments.ts'
import { loadCpuState } from '../../src/node/cpus/load-cpu-state.ts'
import { createTestPolicy } from '../builders/create-cpu-policy.ts'
import { MACHINES } from '../builders/cpu-machines.ts'
import type { FakeCpuNode } from '../fakes/fake-cpu-node.ts'
import type { CpusParts, World } from './create-agent.ts'

const POLICY = createTestPolicy(MACHINES['one socket'], '0')

/** The static policy on the fake runtime; CPUs 0-7, of which 0 is reserved; the disk is the one of a fake machine, which outlives the agents. */
export function staticCpus({ cri }: World, disk: FakeCpuNode, policy = POLICY) {
  return async ({ calls, log, ...parts }: CpusParts) =>
    new CpuAssignments({
      ...parts,
      log,
      policy,
      recorded: await loadCpuState({ store: disk.store, log }, policy),
      write: (text) => disk.store.write(text),
      readCpus: async ({ id }) => {
        const text = cri.runtime.containers.get(id)?.resources.cpusetCpus
        return text === undefined ? undefined : new Set(parseCpuSet(text))
      },
      setCpus: async ({ id, cpus }, signal) => {
        await calls.updateContainerResources({ containerId: id, linux: { cpusetCpus: cpus } }, signal)
      },
      liftsQuota: true,
      periodMs: 10_000,
      metrics: { cpusGiven: () => {}, cpusRejected: () => {} },
    })
}
