import type { Loop } from '../base/async/loop.ts'
import { runMemoryTrim } from '../base/telemetry/run-memory-trim.ts'
import { createNodeCredentials, findImageLogins } from '../pods/images/credentials/create-node-credentials.ts'
import type { CgroupLayout } from '../model/resources/cgroup-names.ts'
import { EventTrust } from '../pods/observe/event-trust.ts'
import { Observer } from '../pods/observe/observer.ts'
import { RelistHealth } from '../pods/observe/relist-health.ts'
import { runObserver } from '../pods/observe/run-observer.ts'
import { RuntimeHealth } from '../pods/observe/runtime-health.ts'
import { toLogLimits } from '../pods/sync/to-node-settings.ts'
import { askAgain } from '../protocols/cri/ask-again.ts'
import { findCdiFault } from '../protocols/cri/find-cdi-fault.ts'
import { listLargeImages } from '../protocols/cri/list-large-images.ts'
import { measureCalls } from '../protocols/cri/measure-calls.ts'
import { streamLists } from '../protocols/cri/stream-lists.ts'
import { findCgroupDriver, startRuntime } from '../protocols/cri/start-runtime.ts'
import { toRuntimeFeatures } from '../protocols/cri/to-runtime-features.ts'
import { toDockerOptions } from '../protocols/runtime/to-docker-options.ts'
import type { Hints } from './hub.ts'
import type { Base } from './open-base.ts'

// Kubernetes wants a runtime that reports its cgroup driver from this version on.
const REPORTS_DRIVER_FROM = '1.37.0'

export type Runtime = Awaited<ReturnType<typeof openRuntime>>

/** Waits for the runtime and asks it what it is. What runs in it is observed from here on. */
export async function openRuntime(base: Base, hub: Hints) {
  const { settings, metrics, membership, clock, log, tasks } = base
  const { config } = settings
  const logins = createNodeCredentials(base)
  const client = base.resources.use(
    await base.connectRuntime(
      {
        runtimeEndpoint: config.containerRuntimeEndpoint,
        imageEndpoint: settings.imageServiceEndpoint,
        requestTimeoutMs: config.runtimeRequestTimeout,
        ...toDockerOptions(base),
        sandboxLogins: (image) => findImageLogins(logins, image),
        logLimits: toLogLimits(config),
        tracer: base.tracer,
        clock,
        log,
      },
      tasks.signal,
    ),
  )
  let callsMade = 0
  const whole = listLargeImages(client)
  const listed = settings.gates.enabled('CRIListStreaming') ? streamLists(whole, { log }) : whole
  const patient = askAgain(listed, clock)
  const calls = measureCalls(patient, {
    clock,
    onCall: ({ operation, seconds, failed, abandoned }) => {
      callsMade += 1
      metrics.runtimeOperation(operation, seconds, failed)
      if (abandoned) metrics.runtimeCallAbandoned(operation)
    },
  })
  const version = await startRuntime({ client, settings, clock, log }, tasks.signal)
  const health = new RuntimeHealth({ client: patient, clock, log, onChange: () => hub.runtimeChanged() })
  const onOld = () => metrics.runtimeLosesSupport(REPORTS_DRIVER_FROM)
  // Neither needs the other, and a start waits for both.
  const [driver] = await Promise.all([
    findCgroupDriver({ client, settings, onOld, clock, log }, tasks.signal),
    // Before anything is reported of the node, so that it does not seem to fail at each start of the agent.
    health.check(tasks.signal),
  ])
  const cgroups: CgroupLayout = { driver, root: settings.cgroupRoot, perQos: config.cgroupsPerQOS }
  const onDemand = settings.gates.enabled('PLEGOnDemandRelist')
  const relists = new RelistHealth({
    syncFrequencyMs: config.syncFrequency,
    events: membership.nodeEvents,
    metrics,
    clock,
    log,
  })
  const trust = new EventTrust({ clock, log })
  const observer = new Observer(
    {
      runtime: calls,
      onDemand,
      clock,
      onChange: (uid, before, now) => {
        trust.observed(before, now)
        hub.podObserved(uid)
      },
      onRefresh: (ms) => metrics.podRelist(ms / 1000),
      onOmitted: (ids) => relists.omitted(ids),
      onTooLarge: () => relists.tooLarge(),
    },
    tasks.signal,
  )
  const loops: readonly Loop[] = [
    {
      name: 'observer',
      run: (s) =>
        runObserver(
          {
            observer,
            trust,
            onDemand,
            client: calls,
            clock,
            log,
            onRelist: (relist) => relists.note(relist),
            onStream: (failed) => metrics.runtimeEventsOpened(failed),
            onEvent: (happenedAt) => metrics.runtimeEvent(Math.max(0, clock.now() - happenedAt) / 1000),
          },
          s,
        ),
    },
    { name: 'memory', run: (s) => runMemoryTrim({ ...base.memory, clock, work: () => callsMade }, s) },
    { name: 'runtime health', run: (s) => health.run(s) },
  ]
  return {
    calls,
    version,
    cgroups,
    observer,
    health,
    relists,
    /** What it can do, by its newest report. */
    features: () => toRuntimeFeatures(health.abilities, version),
    /** Why containers get no CDI devices from it; undefined when they do. */
    cdiFault: (signal: AbortSignal) => findCdiFault(calls, version, signal),
    loops,
  }
}
