import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { Observer } from '../../pods/observe/observer.ts'
import { computeMemoryObservations } from './compute-observations.ts'
import type { Observations } from './compute-observations.ts'
import type { NodePressure } from './node-pressure.ts'
import { computeOomVictim } from './oom/compute-oom-victim.ts'
import type { OomKill } from './oom/parse-oom-kill.ts'
import { runOomWatch } from './oom/run-oom-watch.ts'
import { parseThresholds } from './parse-thresholds.ts'
import { runEviction } from './run-eviction.ts'
import type { EvictionDeps } from './run-eviction.ts'
import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import type { KernelLog } from '../../system/machine/kernel-log.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import type { ImageCollector } from '../../pods/images/collection/image-collector.ts'
import { qosCgroupPaths } from '../../model/resources/cgroup-names.ts'
import { containerFieldPath, containerKind } from '../../model/pod/pod-containers.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import { readCgroupV1 } from '../stats/sampling/read-cgroup-v1.ts'
import { readCgroupV2 } from '../stats/sampling/read-cgroup-v2.ts'
import type { StatsEngine } from '../stats/stats-engine.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface ProtectionDeps {
  readonly settings: Settings
  readonly machine: MachineInfo
  readonly host: { cgroupReader(): CgroupReader; openKernelLog(): KernelLog }
  readonly runtime: { readonly observer: Pick<Observer, 'uids' | 'get'>; readonly cgroups: CgroupLayout }
  readonly registry: Pick<PodRegistry, 'activePods' | 'evict' | 'dropRemains' | 'view'>
  readonly collector: Pick<ImageCollector, 'collectUnused'>
  readonly stats: Pick<StatsEngine, 'ask'>
  readonly volumes: EvictionDeps['volumes']
  readonly membership: { readonly podEvents: PodEvents; readonly nodeEvents: NodeEvents }
  readonly pressure: NodePressure
  readonly metrics: AgentMetrics
  readonly clock: Clock
  readonly log: Logger
}

const FIRST_CHECK_MS = 1000

/** Protects the node when something runs short, and reports what the kernel killed when it was too late. */
export async function runProtection(deps: ProtectionDeps, signal: AbortSignal): Promise<void> {
  const { settings, machine, membership, clock } = deps
  const { nodeEvents } = membership
  const oom = {
    ...deps,
    openLog: () => deps.host.openKernelLog(),
    isExpectedToFail: settings.gates.enabled('KubeletInUserNamespace') && machine.inUserNamespace,
    onKill: (kill: OomKill) => reportVictim(deps, kill),
    nodeEvents,
  }
  await using group = new TaskGroup(signal)
  group.run('eviction', async (s) => {
    // Pods come first.
    await clock.sleep(FIRST_CHECK_MS, s)
    await runEviction(toEvictionDeps(deps), s)
  })
  group.run('kernel log', (s) => runOomWatch(oom, s))
  await group.join()
}

function toEvictionDeps(deps: ProtectionDeps): EvictionDeps {
  const { settings, registry, collector, membership, log } = deps
  const { config } = settings
  const { thresholds, ignored } = parseThresholds(config)
  if (ignored.length > 0)
    log.warn('thresholds are left out: they follow from those of nodefs and imagefs', { signals: ignored })
  return {
    ...deps,
    thresholds,
    transitionMs: config.evictionPressureTransitionPeriod,
    maxGraceSeconds: config.evictionMaxPodGracePeriod,
    localStorage: config.localStorageCapacityIsolation,
    pods: registry,
    images: collector,
    events: membership.podEvents,
    nodeEvents: membership.nodeEvents,
    readMemory: config.kernelMemcgNotification ? createMemoryReader(deps) : undefined,
  }
}

/** Node.js cannot wait for the kernel's notification, so memory is polled (docs/decisions/0014-eviction-notification.md). */
function createMemoryReader({ machine, host, runtime }: ProtectionDeps): () => Observations {
  const reader = host.cgroupReader()
  const read = reader.version === 2 ? readCgroupV2 : readCgroupV1
  const memoryOf = (path: string) => read(reader, path, { extent: 'all', details: false, pressure: false }).memory
  const [pods] = runtime.cgroups.perQos ? qosCgroupPaths(runtime.cgroups) : []
  return () =>
    computeMemoryObservations(
      Number(machine.memoryBytes),
      memoryOf('/'),
      pods === undefined ? undefined : memoryOf(pods),
    )
}

/** Records an event on the pod whose process was killed, also when the pod goes on without that process. */
function reportVictim({ runtime, registry, membership }: ProtectionDeps, { cgroup, process, pid }: OomKill): void {
  const { observer } = runtime
  const observed = observer.uids().flatMap((uid) => observer.get(uid) ?? [])
  const victim = computeOomVictim(cgroup, observed)
  const pod = victim && registry.view(victim.uid)?.pod
  if (victim === undefined || pod === undefined) return
  const { container } = victim
  const whose = container === undefined ? 'Pod' : `Container ${container.name}`
  membership.podEvents.record(pod, {
    type: 'Warning',
    reason: 'OOMKilling',
    message: `${whose} ran out of memory, victim process: ${process}, pid: ${pid}`,
    ...(container !== undefined && {
      fieldPath: containerFieldPath(containerKind(pod, container.name), container.name),
    }),
  })
}
