import type { Loop } from '../base/async/loop.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { Wakeup } from '../base/async/wakeup.ts'
import { errorMessage } from '../base/telemetry/error-text.ts'
import { createSupervisor } from '../base/telemetry/create-supervisor.ts'
import { adoptRunning } from './adopt-running.ts'
import { connectMetrics } from './connect-metrics.ts'
import { createHub } from './hub.ts'
import type { Hints } from './hub.ts'
import { openBase } from './open-base.ts'
import type { KubeletDeps, Lifetime } from './open-base.ts'
import { openDevices } from './open-devices.ts'
import { openNode } from './open-node.ts'
import { openPods } from './open-pods.ts'
import { openRegistry } from './open-registry.ts'
import { openRuntime } from './open-runtime.ts'
import { openServing } from './open-serving.ts'
import { openSources } from './open-sources.ts'
import type { Stages } from './stages.ts'
import { reportRunOnce } from '../pods/sync/report/run-once.ts'

/** The agent, run until the signal aborts. Resolves to the exit code of a run that ends by itself (--runonce). */
export async function runKubelet(deps: KubeletDeps, signal: AbortSignal): Promise<number> {
  using resources = new DisposableStack()
  await using tasks = new TaskGroup(signal, createSupervisor(deps))
  const kubelet = await composeKubelet(deps, { tasks, resources })
  const { serving } = kubelet
  start(tasks, kubelet.loops)
  await serving.answering(tasks.signal)
  await deps.onReady(serving.isHealthy)
  start(tasks, kubelet.lateLoops)
  if (deps.settings.config.runOnce) return await runOnce(kubelet, tasks.signal)
  start(tasks, serving.lateLoops)
  await tasks.join()
  return 0
}

type Kubelet = Awaited<ReturnType<typeof composeKubelet>>

/**
 * Builds the agent, stage by stage: reading this shows how the parts hang together. A stage gets those before it. Hints from an early part
 * to a later one go through the hub; what an early part asks about pods is in the registry, which the workers fill.
 */
export async function composeKubelet(deps: KubeletDeps, lifetime: Lifetime) {
  const base = await openBase(deps, lifetime)
  start(lifetime.tasks, base.loops)
  try {
    return await composeStages(base)
  } catch (error) {
    const event = { type: 'Warning', reason: 'KubeletSetupFailed', message: errorMessage(error) } as const
    if (!lifetime.tasks.signal.aborted) base.membership.nodeEvents.record(event)
    throw error
  }
}

async function composeStages(base: Awaited<ReturnType<typeof openBase>>) {
  const hub = createHub()
  // Only a run with --runonce waits for it.
  const statusWakeup = new Wakeup()
  const runtime = await openRuntime(base, hub)
  const { registry, allocations } = await openRegistry(base, runtime)
  const known = { base, runtime, registry, allocations }
  const devices = await openDevices(known, hub)
  const node = await openNode({ ...known, devices }, hub)
  const pods = await openPods({ ...known, devices, node }, hub)
  // What runs is known before anything is desired: so a restart of the agent adopts, and never starts twice.
  await adoptRunning({ ...known, devices, pods })
  const sources = await openSources({ ...known, devices, node, pods })
  const serving = openServing({ ...known, devices, node, pods, sources })
  const stages = { ...known, devices, node, pods, sources, serving }
  hub.connect(createListeners(stages, statusWakeup))
  connectMetrics(stages)
  const loops = [runtime, sources, devices, node, pods, serving].flatMap((stage) => stage.loops)
  // They protect the node and tidy up: loaded once it is known that the agent looks after its pods.
  const lateLoops = [node, pods].flatMap((stage) => stage.lateLoops)
  return { ...stages, statusWakeup, loops, lateLoops }
}

/** Where the hints of early parts go. */
function createListeners({ runtime, registry, devices, node, pods, sources }: Stages, statusWakeup: Wakeup): Hints {
  return {
    podObserved(uid) {
      pods.workers.observed(uid)
      pods.terminationLogs.observe(uid, runtime.observer.get(uid))
      devices.placement.wake()
    },
    objectsChanged(uid) {
      pods.volumes.contentChanged(uid)
      pods.workers.observed(uid)
    },
    statusChanged(uid) {
      statusWakeup.wake()
      sources.changes.changed(uid)
      sources.clusterPods?.onStatus(uid)
    },
    runtimeChanged() {
      registry.wakeAll()
      node.own.wake()
      pods.workers.retryRejected()
    },
    nodeChanged() {
      node.own.wake()
      sources.clusterPods?.mirrors.wake()
      pods.workers.retryRejected()
    },
    roomChanged: () => pods.workers.retryRejected(),
    driversChanged() {
      pods.volumes.retry(pods.csi.plugin)
      pods.csi.retryNow()
    },
  }
}

function start(tasks: TaskGroup, loops: readonly Loop[]): void {
  for (const { name, run } of loops) tasks.runLoop(name, run)
}

async function runOnce({ base, registry, sources, statusWakeup }: Kubelet, signal: AbortSignal): Promise<number> {
  const { settings, clock, write } = base
  return await reportRunOnce(
    {
      views: () => registry.views(),
      allSeen: () => sources.mux.allSeen(),
      refusals: sources.refusals,
      wakeup: statusWakeup,
      clock,
      deadlineMs: settings.config.runtimeRequestTimeout,
      write,
    },
    signal,
  )
}
