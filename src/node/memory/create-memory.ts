import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { createCpusetReader } from '../placement/create-cpuset-reader.ts'
import type { CpusetHost, CpusetRuntime } from '../placement/create-cpuset-reader.ts'
import { toPodLevel } from '../placement/to-pod-level.ts'
import type { Observer } from '../../pods/observe/observer.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import type { NumaNode } from '../../system/machine/hardware/read-numa-nodes.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { quantityValue } from '../../model/resources/quantity.ts'
import { computeEvictionReserve } from '../registration/status/compute-node-resources.ts'
import { createMemoryPolicy } from './create-memory-policy.ts'
import { loadMemoryState } from './load-memory-state.ts'
import { MemoryAssignments } from './memory-assignments.ts'
import { MEMORY_STATE_FILE } from './memory-state-file.ts'
import type { PodMemory } from './pod-memory.ts'
import { UNPLACED_STATE, UnplacedMemory } from './unplaced-memory.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import { setAsideBroken } from '../../system/files/state/state-file.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { toNodeProfile } from '../registration/status/to-node-profile.ts'

export interface CreateMemoryDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly nodes: readonly NumaNode[]
  readonly rootDirectory: string
  readonly host: CpusetHost & { stateFile(path: string): StateFile }
  readonly runtime: CpusetRuntime & { readonly observer: Pick<Observer, 'uids' | 'get'> }
  /** The pods that were admitted and have not ended. */
  readonly activePods: () => readonly Pod[]
  readonly metrics: Pick<AgentMetrics, 'memoryGiven' | 'memoryRejected' | 'podMemoryGiven' | 'podMemoryRejected'>
  readonly clock: Clock
  readonly log: Logger
}

/** Decides from which NUMA nodes containers get memory, by the configured policy and the record of an earlier agent. Fails where the policy does not fit the machine. */
export async function createMemory(deps: CreateMemoryDeps): Promise<PodMemory> {
  const { settings, nodes, log } = deps
  const file = deps.host.stateFile(`${deps.rootDirectory}/${MEMORY_STATE_FILE}`)
  if (settings.config.memoryManagerPolicy === 'None') {
    try {
      const known = await file.read().catch(async (error: unknown) => {
        log.error('cannot read which memory containers have, setting the file aside', {
          ...(await setAsideBroken(file, error)),
          error,
        })
      })
      // For the agents that come after; a full disk must not keep this one from its work.
      if (known !== UNPLACED_STATE) await file.write(UNPLACED_STATE)
    } catch (error) {
      log.warn('cannot record that containers may use all memory', { error })
    }
    return new UnplacedMemory()
  }
  const { reservedMemory } = settings.config
  const policy = createMemoryPolicy({ nodes, reservedMemory, reserved: sumReserved(deps) })
  log.info('memory of NUMA nodes is given to single containers', { reservedMemory })
  const podLevel = toPodLevel(settings)
  return new MemoryAssignments({
    ...deps,
    policy,
    podLevel,
    recorded: await loadMemoryState({ file, log, podLevel }, policy),
    observed: deps.runtime.observer,
    readNodes: createCpusetReader('cpuset.mems', deps),
    write: (text) => file.write(text),
    periodMs: settings.config.cpuManagerReconcilePeriod,
  })
}

/** What is kept from pods on the whole machine. */
function sumReserved({ settings, machine }: CreateMemoryDeps): ReadonlyMap<string, bigint> {
  const { resources } = toNodeProfile(settings, { architecture: '' })
  const eviction = computeEvictionReserve(resources, { memoryBytes: machine.memoryBytes, storageBytes: undefined })
  const parts = [...resources.reserved.map(parseAmounts), eviction].flatMap((amounts) => amounts.get('memory') ?? [])
  return new Map([['memory', parts.reduce((sum, amount) => sum + quantityValue(amount), 0n)]])
}
