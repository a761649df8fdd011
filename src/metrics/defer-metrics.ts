import type { AgentCounts, AgentMetrics } from './create-metrics.ts'

// So many counts wait for their metrics; more would cost more than the library does.
const MOST_WAITING = 1000

/** All that is counted; the type sees to it that none is forgotten. */
const COUNTS: Readonly<Record<keyof AgentCounts, true>> = {
  loopFailed: true,
  taskFailed: true,
  stateSetAside: true,
  runtimeOperation: true,
  runtimeCallAbandoned: true,
  relist: true,
  listTooLarge: true,
  podRelist: true,
  runtimeEventsOpened: true,
  runtimeEvent: true,
  runtimeLosesSupport: true,
  containerStart: true,
  sandboxStart: true,
  podStart: true,
  podStartKnown: true,
  podRejected: true,
  podRestarted: true,
  podOrphaned: true,
  containerEnded: true,
  sleepCutShort: true,
  hookFellBack: true,
  preemption: true,
  imageEnsured: true,
  imagePulled: true,
  imageCollected: true,
  imageChecked: true,
  imageVolume: true,
  pullRecords: true,
  credentialPluginRun: true,
  podSeen: true,
  podWorkerPass: true,
  podWorkerStart: true,
  storageOperation: true,
  volumeFound: true,
  foreignVolumeCleaned: true,
  orphanVolumes: true,
  volumeMeasured: true,
  selinuxLabel: true,
  probe: true,
  probeEnded: true,
  eviction: true,
  evictionStatsAge: true,
  shutdownStarted: true,
  shutdownEnded: true,
  resizeRequested: true,
  resizeInfeasible: true,
  deferredResizeAccepted: true,
  resizeActuated: true,
  cpusGiven: true,
  cpusRejected: true,
  podCpusGiven: true,
  podCpusRejected: true,
  csiCall: true,
  podPlaced: true,
  placementAligned: true,
  memoryGiven: true,
  memoryRejected: true,
  podMemoryGiven: true,
  podMemoryRejected: true,
  draOperation: true,
  draCall: true,
  devicePluginRegistered: true,
  devicesAllocated: true,
  requestStarted: true,
  requestEnded: true,
  webSocketRequest: true,
  cgroupWork: true,
  memoryProtected: true,
  nodeStartup: true,
  healthChecked: true,
  clientRequest: true,
  clientRetry: true,
  clientWait: true,
  clientSize: true,
  credentialPluginCall: true,
  credentialPluginCertificate: true,
  hostResolved: true,
  reviewAsked: true,
  tokenJudged: true,
  tokenFetch: true,
  tokenWait: true,
  clientCertificateSeen: true,
  podStatusReported: true,
  serverCertificateRotated: true,
  certificateRenewalFailed: true,
  podResourcesRequest: true,
  spansExported: true,
  spansDropped: true,
  resetHealth: true,
}

/** Counts from the start on; the metrics themselves come later. */
export interface DeferredMetrics extends AgentMetrics {
  /** Says how the metrics are made: everything that they read is there now. */
  connect(load: () => Promise<AgentMetrics>): void
}

/**
 * Metrics that are made when they are first asked for, or when much waits to be counted: their library takes a tenth of the time that
 * the whole agent has for its start.
 */
export function deferMetrics(): DeferredMetrics {
  const connected = Promise.withResolvers<() => Promise<AgentMetrics>>()
  const waiting: ((metrics: AgentMetrics) => void)[] = []
  let made: AgentMetrics | undefined
  let making: Promise<AgentMetrics> | undefined
  const make = async () => {
    const load = await connected.promise
    const metrics = await load()
    for (const report of waiting.splice(0)) report(metrics)
    made = metrics
    return metrics
  }
  const count = (report: (metrics: AgentMetrics) => void) => {
    if (made !== undefined) return report(made)
    waiting.push(report)
    // A scraper gets the failure; counting goes on without.
    if (waiting.length >= MOST_WAITING) (making ??= make()).catch(() => {})
  }
  const counts = Object.keys(COUNTS).map((name) => [
    name,
    (...call: unknown[]) =>
      count((metrics) => (metrics[name as keyof AgentCounts] as (...call: unknown[]) => void)(...call)),
  ])
  const ready = async () => await (making ??= make())
  return {
    connect: (load) => connected.resolve(load),
    ...(Object.fromEntries(counts) as AgentCounts),
    render: async (format) => await (await ready()).render(format),
    renderProbes: async (format) => await (await ready()).renderProbes(format),
    renderHealth: async (format) => await (await ready()).renderHealth(format),
  }
}
