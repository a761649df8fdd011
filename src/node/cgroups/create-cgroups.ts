import process from 'node:process'
import type { Clock } from '../../base/async/clock.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { openCgroupFiles } from '../../system/cgroups/cgroup-files.ts'
import { CgroupMoves, openIdleMove } from '../../system/cgroups/cgroup-moves.ts'
import { createCgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import { readFileSystemSpace } from '../../system/files/file-system-space.ts'
import { listPrograms } from '../../system/cgroups/list-programs.ts'
import { setOomScoreAdj } from '../../system/processes/own-process.ts'
import { readHugepages } from '../../system/machine/hardware/read-hugepages.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import { readTaskLimit } from '../../system/machine/read-task-limit.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { quantityValue } from '../../model/resources/quantity.ts'
import { computeEvictionReserve, computeNodeResources } from '../registration/status/compute-node-resources.ts'
import { createCgroupfsDriver } from './cgroup-driver.ts'
import type { CgroupDriver } from './cgroup-driver.ts'
import { computePodsAmounts, computeReservationProblems } from './compute-node-cgroups.ts'
import type { NodeAmounts } from './compute-node-cgroups.ts'
import type { QosSettings } from './compute-qos-cgroups.ts'
import { runNodeCgroups, startNodeCgroups } from './node-cgroups.ts'
import { createPodCgroups } from './pod-cgroups.ts'
import { measureDriver } from './measure-driver.ts'
import type { OnCgroupWork } from './measure-driver.ts'
import { QosCgroups } from './qos-cgroups.ts'
import type { QosCgroupsDeps } from './qos-cgroups.ts'
import { readPodCgroup } from './read-pod-cgroup.ts'
import { runOwnCgroups } from './run-own-cgroups.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import { toNodeProfile } from '../registration/status/to-node-profile.ts'

export interface CreateCgroupsDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly layout: CgroupLayout
  /** All pods that run or are about to, with their actual resources; undefined while some of them are not known yet. */
  readonly pods: () => readonly Pod[] | undefined
  /** A container of this pod has exclusive CPUs. */
  readonly hasExclusiveCpus: (uid: PodUid) => boolean
  readonly onCgroupWork: OnCgroupWork
  readonly onProtected: NonNullable<QosCgroupsDeps['onProtected']>
  readonly events: NodeEvents
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
}

const SYSTEM_BUS = 'unix:path=/run/dbus/system_bus_socket'

export type NodeCgroups = Awaited<ReturnType<typeof createCgroups>>

/** The cgroups of this node. Those above pods are made now, and an error in them fails the start. */
export async function createCgroups(deps: CreateCgroupsDeps, signal: AbortSignal) {
  const { settings, machine, layout, clock, log } = deps
  const { config } = settings
  if (/^\/*$/.test(config.systemCgroups) && config.systemCgroups !== '') {
    throw new Error(
      'Cannot use systemCgroups "/": the programs of the system are there, expected a cgroup to move them to',
    )
  }
  const files = openCgroupFiles(machine.cgroupVersion)
  const reader = createCgroupReader(machine.cgroupVersion)
  const driver = measureDriver(
    await createDriver(deps, createCgroupfsDriver(files, clock), signal),
    clock,
    deps.onCgroupWork,
  )
  const amounts = await readAmounts(deps)
  const problems = computeReservationProblems(amounts)
  if (problems.length > 0) throw new Error(`Cannot reserve more than the node has: ${problems.join('; ')}`)
  const memory = toMemorySettings(deps)
  const node = {
    ...deps,
    driver,
    amounts,
    enforced: config.enforceNodeAllocatable,
    reservedCgroups: { system: config.systemReservedCgroup, kube: config.kubeReservedCgroup },
    cpus: findCpus(deps),
    protectsReserved: memory.protectsMemory !== undefined,
  }
  const qos = new QosCgroups({
    ...deps,
    driver,
    settings: { ...memory, hugepageSizes: machine.hugepageSizes, reserve: toReserve(settings, amounts) },
    memoryUsage: (cgroup) => readPodCgroup(reader, cgroup).memoryUsageBytes,
  })
  const pods = createPodCgroups(
    {
      layout,
      driver,
      reader,
      settings: {
        cpuCfsQuota: config.cpuCFSQuota,
        cpuCfsQuotaPeriodMicroseconds: BigInt(Math.round(config.cpuCFSQuotaPeriod * 1000)),
        podPidsLimit: BigInt(config.podPidsLimit),
        hugepageSizes: machine.hugepageSizes,
        protectsMemory: memory.protectsMemory === true,
      },
      hasExclusiveCpus: deps.hasExclusiveCpus,
      onChange: () => qos.wake(),
    },
    signal,
  )
  const moves: Pick<CgroupMoves, 'keepQuick'> = new CgroupMoves({ open: () => openIdleMove(files), clock })
  if (machine.cgroupVersion === 1) deps.events.record(CGROUP_V1)
  await startNodeCgroups(node)
  await qos.start()
  const own = {
    kubeletCgroup: config.kubeletCgroups,
    systemCgroup: config.systemCgroups,
    pid: process.pid,
    makeCgroup: (cgroup: string) => files.make(toPath(cgroup)),
    addProcess: (cgroup: string, pid: number) => files.addProcess(toPath(cgroup), pid),
    listPrograms: () => listPrograms(`${files.folderOf('cpu', '')}/cgroup.procs`),
    spareOwnProcess: () => setOomScoreAdj(config.oomScoreAdj),
    clock,
    log,
  }
  return {
    pods,
    moves,
    /** All pods are known. */
    wake: () => qos.wake(),
    /** Keeps all of it as it should be. */
    async run(s: AbortSignal): Promise<void> {
      await using group = new TaskGroup(s)
      group.run('cgroup of all pods', (until) => runNodeCgroups(node, until))
      group.run('cgroups of QoS classes', (until) => qos.run(until))
      group.run('own cgroups', (until) => runOwnCgroups(own, until))
      await group.join()
    },
  }
}

const CGROUP_V1 = {
  type: 'Warning',
  reason: 'CgroupV1',
  message:
    'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1',
} as const

/** systemd is asked only where it is the driver; without it no pod could ever run. */
async function createDriver(deps: CreateCgroupsDeps, files: CgroupDriver, signal: AbortSignal): Promise<CgroupDriver> {
  const { layout, machine, environment, clock, log } = deps
  if (layout.driver === 'cgroupfs') return files
  const address = environment['DBUS_SYSTEM_BUS_ADDRESS'] ?? SYSTEM_BUS
  const [{ openSystemdSlices }, { createSystemdDriver }] = await Promise.all([
    import('../../system/cgroups/systemd-slices.ts'),
    import('./systemd-driver.ts'),
  ])
  try {
    const onSilence = (error: Error) => log.warn('systemd does not answer yet, asking again', { address, error })
    const slices = await openSystemdSlices({ address, clock, onSilence }, signal)
    return createSystemdDriver({ slices, files, version: machine.cgroupVersion }, signal)
  } catch (cause) {
    signal.throwIfAborted()
    const why = errorMessage(cause)
    throw new Error(
      `Cannot use the cgroup driver systemd: systemd does not answer at "${address}" (${why}), expected it to run or cgroupDriver: cgroupfs here and in the runtime`,
      { cause },
    )
  }
}

async function readAmounts({ settings, machine }: CreateCgroupsDeps): Promise<NodeAmounts> {
  const { resources } = toNodeProfile(settings, { architecture: process.arch })
  const isLocal = resources.localStorage
  const storageBytes = isLocal ? BigInt((await readFileSystemSpace(settings.flags.rootDir)).capacityBytes) : undefined
  const { memoryBytes, onlineCpus } = machine
  const size = { cpus: onlineCpus.length, memoryBytes, hugepages: readHugepages(), storageBytes }
  const { pods: _, ...capacity } = computeNodeResources({}, resources, size).capacity
  const taskLimit = readTaskLimit()
  return {
    capacity: parseAmounts({ ...capacity, ...(taskLimit === undefined ? {} : { pid: String(taskLimit) }) }),
    system: parseAmounts(settings.reserved.system),
    kube: parseAmounts(settings.reserved.kube),
    eviction: computeEvictionReserve(resources, size),
  }
}

/** Only version 2 can protect memory. */
function toMemorySettings({ settings, machine }: CreateCgroupsDeps): Pick<QosSettings, 'protectsMemory'> {
  const isOn = settings.gates.enabled('MemoryQoS') && machine.cgroupVersion === 2
  return { protectsMemory: isOn ? settings.config.memoryReservationPolicy === 'TieredReservation' : undefined }
}

function toReserve({ config, gates }: Settings, amounts: NodeAmounts): QosSettings['reserve'] {
  const percent = config.qosReserved['memory']
  const memory = computePodsAmounts(amounts, true).get('memory')
  if (!gates.enabled('QOSReserved') || percent === undefined || memory === undefined) return undefined
  return { percent: BigInt(percent.replace('%', '')), podsBytes: quantityValue(memory) }
}

/** Version 1 hands the CPUs down by itself. With a CPU manager, that sets them. */
function findCpus({ settings, machine }: CreateCgroupsDeps): string | undefined {
  return machine.cgroupVersion === 2 && settings.config.cpuManagerPolicy === 'none'
    ? machine.onlineCpus.join(',')
    : undefined
}

function toPath(cgroup: string): string {
  return cgroup.startsWith('/') ? cgroup : `/${cgroup}`
}
