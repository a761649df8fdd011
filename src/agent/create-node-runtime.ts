import type { TaskGroup } from '../base/async/task-group.ts'
import type { Clock } from '../base/async/clock.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import { createCriClient } from '../protocols/cri/cri-client.ts'
import type { CriClient } from '../protocols/cri/cri-client.ts'
import { measureCalls } from '../protocols/cri/measure-calls.ts'
import type { RuntimeVersion } from '../protocols/cri/runtime-version.ts'
import { toRuntimeFeatures } from '../protocols/cri/to-runtime-features.ts'
import type { CgroupLayout } from '../model/resources/cgroup-names.ts'
import type { PodUid } from '../model/pod/pod.ts'
import type { RuntimeFeatures } from '../model/pod/runtime-features.ts'
import { Observer } from '../pods/observe/observer.ts'
import { RuntimeHealth } from '../pods/observe/runtime-health.ts'
import { findCgroupDriver, startRuntime } from '../protocols/cri/start-runtime.ts'
import type { AgentMetrics } from '../metrics/create-metrics.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { Tracer } from '../base/telemetry/tracer.ts'

export interface NodeRuntimeDeps {
  readonly settings: Settings
  readonly metrics: AgentMetrics
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly log: Logger
  /** What the runtime has of this pod changed. */
  readonly onPod: (uid: PodUid) => unknown
  /** The runtime, or its network, is well or ill. */
  readonly onHealth: () => void
}

/** The runtime of this node: how it is called, what it has, how it is. */
export interface NodeRuntime extends Disposable {
  readonly calls: CriClient
  readonly version: RuntimeVersion
  readonly cgroups: CgroupLayout
  readonly observer: Observer
  readonly health: RuntimeHealth
  /** What it can do, by its newest word. */
  readonly features: () => RuntimeFeatures
  /** So many calls were made until now. */
  readonly callsMade: () => number
}

/** Waits for the runtime and asks it what it is. */
export async function createNodeRuntime(deps: NodeRuntimeDeps, group: TaskGroup): Promise<NodeRuntime> {
  const { settings, metrics, clock, log } = deps
  const { config } = settings
  using stack = new DisposableStack()
  const client = stack.use(
    createCriClient({
      runtimeEndpoint: config.containerRuntimeEndpoint,
      imageEndpoint: settings.imageServiceEndpoint,
      requestTimeoutMs: config.runtimeRequestTimeout,
      tracer: deps.tracer,
      clock,
      log,
    }),
  )
  let callsMade = 0
  const calls = measureCalls(client, {
    clock,
    onCall: ({ operation, seconds, failed }) => {
      callsMade += 1
      metrics.runtimeOperation(operation, seconds, failed)
    },
  })
  const version = await startRuntime({ client, settings, clock, log }, group.signal)
  const driver = await findCgroupDriver({ client, settings, clock, log }, group.signal)
  const health = new RuntimeHealth({ client, clock, log, onChange: deps.onHealth })
  const kept = stack.move()
  return {
    calls,
    version,
    cgroups: { driver, root: settings.cgroupRoot, perQos: config.cgroupsPerQOS },
    observer: new Observer(
      { runtime: calls, clock, onChange: deps.onPod, onRefresh: (ms) => metrics.podRelist(ms / 1000) },
      group.signal,
    ),
    health,
    features: () => toRuntimeFeatures(health.abilities, version),
    callsMade: () => callsMade,
    [Symbol.dispose]: () => kept.dispose(),
  }
}
