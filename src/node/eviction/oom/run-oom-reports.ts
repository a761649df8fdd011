import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { Settings } from '../../../model/config/load-configuration.ts'
import type { NodeEvents } from '../../../model/events/node-events.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import { containerFieldPath, containerKind } from '../../../model/pod/pod-containers.ts'
import type { Observer } from '../../../pods/observe/observer.ts'
import type { PodRegistry } from '../../../pods/sync/pod-registry.ts'
import type { KernelLog } from '../../../system/machine/kernel-log.ts'
import type { MachineInfo } from '../../../system/machine/read-machine.ts'
import { computeOomVictim } from './compute-oom-victim.ts'
import type { OomKill } from './parse-oom-kill.ts'
import { runOomWatch } from './run-oom-watch.ts'

export interface OomReportsDeps {
  readonly settings: Settings
  readonly machine: Pick<MachineInfo, 'inUserNamespace'>
  readonly host: { openKernelLog(): KernelLog }
  readonly runtime: { readonly observer: Pick<Observer, 'uids' | 'get'> }
  readonly registry: Pick<PodRegistry, 'view'>
  readonly membership: { readonly podEvents: PodEvents; readonly nodeEvents: NodeEvents }
  readonly clock: Clock
  readonly log: Logger
}

/** Reports what the kernel killed for want of memory, on the node and on pods. */
export async function runOomReports(deps: OomReportsDeps, signal: AbortSignal): Promise<void> {
  const { settings, machine, membership } = deps
  const watch = {
    ...deps,
    openLog: () => deps.host.openKernelLog(),
    isExpectedToFail: settings.gates.enabled('KubeletInUserNamespace') && machine.inUserNamespace,
    onKill: (kill: OomKill) => reportVictim(deps, kill),
    nodeEvents: membership.nodeEvents,
  }
  await runOomWatch(watch, signal)
}

/** Records an event on the pod whose process was killed, also when the pod goes on without that process. */
function reportVictim({ runtime, registry, membership }: OomReportsDeps, { cgroup, process, pid }: OomKill): void {
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
