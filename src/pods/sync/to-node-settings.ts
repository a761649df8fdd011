import type { Settings } from '../../model/config/load-configuration.ts'
import type { CpuQuotaSettings } from '../containers/compute-cpu-and-memory.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import type { LogRotationDeps } from '../logs/run-log-rotation.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import type { NodeSettings } from './node-settings.ts'

/** What the machine and the configuration mean for every pod: one place, so that no part of the agent reads either. */
export function toNodeSettings(
  settings: Settings,
  info: {
    readonly machine: MachineInfo
    /** Asked each time: a node may get its address after the agent started, or another one. */
    readonly nodeIps: () => readonly string[]
    /** What pods may have of the node. */
    readonly allocatable: () => Readonly<Record<string, string>>
    readonly cgroups: CgroupLayout
    /** For the sandboxes of pods; undefined is the runtime's own. */
    readonly sandboxSeccompProfile: string | undefined
  },
): NodeSettings {
  const { config, flags, gates } = settings
  const { machine, nodeIps } = info
  const cpu = toCpuQuotaSettings(config)
  return {
    rootDirectory: flags.rootDir,
    podLogsDirectory: config.podLogsDir,
    deadInstancesKept: flags.maximumDeadContainersPerContainer,
    deadContainerLeastMs: flags.minimumContainerTtlDuration,
    status: {
      reportsSandbox: gates.enabled('PodReadyToStartContainersCondition'),
      imageVolumeDigests: gates.enabled('ImageVolumeWithDigest'),
    },
    sandbox: {
      podLogsDirectory: config.podLogsDir,
      cgroups: info.cgroups,
      cpu,
      seccompProfile: info.sandboxSeccompProfile,
      dns: {
        clusterDns: config.clusterDNS,
        clusterDomain: config.clusterDomain,
        resolvConf: config.resolvConf,
        get primaryFamily() {
          return nodeIps()[0]?.includes(':') === true ? 'IPv6' : 'IPv4'
        },
      },
    },
    container: {
      get ips() {
        return nodeIps()
      },
      get allocatable() {
        return parseAmounts(info.allocatable())
      },
      selinuxEnabled: machine.selinuxEnabled,
      stopSignals: gates.enabled('ContainerStopSignals'),
      resources: {
        ...cpu,
        cgroupVersion: machine.cgroupVersion,
        hugepageSizes: machine.hugepageSizes,
        memoryCapacityBytes: machine.memoryBytes,
        swap: {
          controller: machine.swapController,
          behavior: config.memorySwap.swapBehavior === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap',
          capacityBytes: machine.swapBytes,
        },
        get memoryQos() {
          return toMemoryQos(settings, machine, info.allocatable)
        },
        singleProcessOomKill: config.singleProcessOOMKill ?? machine.cgroupVersion === 1,
      },
      security: {
        seccompDefault: config.seccompDefault,
        seccompDirectory: `${flags.rootDir}/seccomp`,
        thermalThrottlePaths: machine.thermalThrottlePaths,
      },
    },
  }
}

/** How the CPU time of containers is limited. */
export function toCpuQuotaSettings(
  config: Pick<Settings['config'], 'cpuCFSQuota' | 'cpuCFSQuotaPeriod'>,
): CpuQuotaSettings {
  return {
    cpuCfsQuota: config.cpuCFSQuota,
    cpuCfsQuotaPeriodMicroseconds: BigInt(Math.round(config.cpuCFSQuotaPeriod * 1000)),
  }
}

/** Only where the feature is on, and cgroup v2 can do it. */
function toMemoryQos(
  { config, gates }: Settings,
  { cgroupVersion }: MachineInfo,
  allocatable: () => Readonly<Record<string, string>>,
): NodeSettings['container']['resources']['memoryQos'] {
  if (!gates.enabled('MemoryQoS') || cgroupVersion === 1) return undefined
  const memory = allocatable()['memory']
  return {
    throttlingFactor: config.memoryThrottlingFactor,
    protectsMemory: config.memoryReservationPolicy === 'TieredReservation',
    allocatableBytes: memory === undefined ? undefined : quantityValue(parseQuantity(memory)),
  }
}

/** How large the logs of containers may become. */
export function toLogLimits(config: Settings['config']): LogRotationDeps['limits'] {
  return {
    maxSizeBytes: Number(quantityValue(parseQuantity(config.containerLogMaxSize))),
    maxFiles: config.containerLogMaxFiles,
    maxWorkers: config.containerLogMaxWorkers,
    intervalMs: config.containerLogMonitorInterval,
  }
}
