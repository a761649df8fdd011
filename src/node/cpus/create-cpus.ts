import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { parseGoBool } from '../../model/config/values/go-scalars.ts'
import { computeCpuAndMemory } from '../../pods/containers/compute-cpu-and-memory.ts'
import type { CpuQuotaSettings } from '../../pods/containers/compute-cpu-and-memory.ts'
import { createCpusetReader } from '../placement/create-cpuset-reader.ts'
import type { CpusetHost, CpusetRuntime } from '../placement/create-cpuset-reader.ts'
import { toPodLevel } from '../placement/to-pod-level.ts'
import type { Observer } from '../../pods/observe/observer.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { parseCpuSet } from '../../model/resources/cpu-set.ts'
import { allContainers } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { quantityMilliValue } from '../../model/resources/quantity.ts'
import type { CpusetUpdate } from './compute-cpuset-updates.ts'
import { CpuAssignments } from './cpu-assignments.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { CPU_STATE_FILE } from './cpu-state-file.ts'
import { createCpuPolicy } from './create-cpu-policy.ts'
import { loadCpuRecord, loadCpuState } from './load-cpu-state.ts'
import type { PodCpus } from './pod-cpus.ts'
import { SHARED_STATE, SharedCpus } from './shared-cpus.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import type { CpuPlace } from '../../model/resources/cpu-place.ts'

export interface CreateCpusDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly rootDirectory: string
  readonly host: CpusetHost & {
    stateFile(path: string): StateFile
    cpuPlaces(): readonly CpuPlace[]
  }
  readonly runtime: CpusetRuntime & { readonly observer: Pick<Observer, 'uids' | 'get'> }
  readonly quota: CpuQuotaSettings
  /** The pods that were admitted and have not ended. */
  readonly activePods: () => readonly Pod[]
  readonly metrics: Pick<AgentMetrics, 'cpusGiven' | 'cpusRejected' | 'podCpusGiven' | 'podCpusRejected'>
  readonly clock: Clock
  readonly log: Logger
}

const UNLIMITED = -1n

/** Decides which containers run on which CPUs, by the configured policy and the record of an earlier agent. Fails where the policy does not fit the machine. */
export async function createCpus(deps: CreateCpusDeps): Promise<PodCpus> {
  const { settings, log } = deps
  const { config } = settings
  const store = deps.host.stateFile(`${deps.rootDirectory}/${CPU_STATE_FILE}`)
  const common = {
    ...deps,
    observed: deps.runtime.observer,
    readCpus: createCpusetReader('cpuset.cpus', deps),
    write: (text: string) => store.write(text),
    periodMs: config.cpuManagerReconcilePeriod,
  }
  if (config.cpuManagerPolicy === 'none') {
    const record = await loadCpuRecord({ store, log })
    const giveBack = record?.policyName === 'static' ? new Set(deps.machine.onlineCpus) : undefined
    if (giveBack === undefined) await noteShared(store, log)
    const quotaOf = (update: CpusetUpdate) => ownQuota(deps, update)
    return new SharedCpus({ ...common, giveBack, setCpus: createCpusSetter(deps, quotaOf) })
  }
  const policy = toCpuPolicy(settings, deps.host.cpuPlaces())
  log.info('CPUs are given to single containers', { reserved: [...policy.reserved], options: policy.options })
  const liftsQuota = settings.gates.enabled('DisableCPUQuotaWithExclusiveCPUs')
  const noQuota = liftsQuota && deps.quota.cpuCfsQuota ? { cpuQuota: UNLIMITED } : {}
  return new CpuAssignments({
    ...common,
    policy,
    liftsQuota,
    recorded: await loadCpuState({ store, log }, policy),
    setCpus: createCpusSetter(deps, ({ exclusive }) => (exclusive ? noQuota : {})),
  })
}

/** For the agents that come after; a full disk must not keep this one from its work. */
async function noteShared(store: StateFile, log: Logger): Promise<void> {
  try {
    if ((await store.read()) !== SHARED_STATE) await store.write(SHARED_STATE)
  } catch (error) {
    log.warn('cannot record that containers share all CPUs', { error })
  }
}

/** The static policy as it is configured, on this machine. */
function toCpuPolicy(settings: Settings, topology: readonly CpuPlace[]): CpuPolicy {
  const { config, reserved } = settings
  const isOn = (name: string) => parseGoBool(config.cpuManagerPolicyOptions[name] ?? 'false')
  if (isOn('align-by-socket')) checkSockets(topology)
  const cpus = [reserved.system, reserved.kube].flatMap((amounts) => parseAmounts(amounts).get('cpu') ?? [])
  return createCpuPolicy({
    topology,
    options: {
      fullCoresOnly: isOn('full-pcpus-only'),
      strictReservation: isOn('strict-cpu-reservation'),
      byUncoreCache: isOn('prefer-align-cpus-by-uncorecache'),
      acrossNumaNodes: isOn('distribute-cpus-across-numa'),
      acrossCores: isOn('distribute-cpus-across-cores'),
      alignBySocket: isOn('align-by-socket'),
      podLevel: toPodLevel(settings),
    },
    reservedCpus: new Set(parseCpuSet(config.reservedSystemCPUs)),
    reservedMilli: cpus.reduce((sum, amount) => sum + quantityMilliValue(amount), 0n),
  })
}

/** Sockets take the place of NUMA nodes, so they must not be smaller. */
function checkSockets(topology: readonly CpuPlace[]): void {
  const count = (level: 'socket' | 'numaNode') => new Set(topology.map((place) => place[level])).size
  if (count('socket') > count('numaNode'))
    throw new Error(
      `Cannot use the CPU policy option "align-by-socket": expected at most as many sockets as NUMA nodes, there are ${count('socket')} and ${count('numaNode')}`,
    )
}

type Quota = { readonly cpuQuota?: bigint; readonly cpuPeriod?: bigint }

function createCpusSetter({ runtime }: CreateCpusDeps, quotaOf: (update: CpusetUpdate) => Quota) {
  return async (update: CpusetUpdate, signal: AbortSignal): Promise<void> => {
    const linux = { cpusetCpus: update.cpus, ...quotaOf(update) }
    await runtime.calls.updateContainerResources({ containerId: update.id, linux }, signal)
  }
}

/** The quota that a container would have been made with. */
function ownQuota({ activePods, quota }: CreateCpusDeps, { uid, name }: CpusetUpdate): Quota {
  const pod = activePods().find(({ metadata }) => metadata.uid === uid)
  const found = pod && allContainers(pod).find(({ container }) => container.name === name)
  const limits = parseAmounts(found?.container.resources?.limits)
  if (!quota.cpuCfsQuota || !limits.has('cpu')) return {}
  const { cpuQuota, cpuPeriod } = computeCpuAndMemory(
    { cpuRequest: undefined, cpuLimit: limits.get('cpu'), memoryLimit: undefined },
    quota,
  )
  return { cpuQuota, cpuPeriod }
}
