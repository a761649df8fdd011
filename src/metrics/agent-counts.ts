import type { AccessMetrics } from './access-metrics.ts'
import type { ClientMetrics, TracingMetrics } from './api-client-metrics.ts'
import type { CsiMetrics, DeviceMetrics, DraMetrics } from './driver-metrics.ts'
import type { ImageMetrics } from './image-metrics.ts'
import type { CgroupMetrics, EvictionMetrics, ShutdownMetrics, NodeStartupMetrics } from './node-metrics.ts'
import type { CpuMetrics, PlacementMetrics } from './placement-metrics.ts'
import type { PodLifeMetrics } from './pod-life-metrics.ts'
import type { PodStartMetrics } from './pod-start-metrics.ts'
import type { ProbeMetrics } from './probe-metrics.ts'
import type { FailureMetrics } from './process-metrics.ts'
import type { ResizeMetrics } from './resize-metrics.ts'
import type { RuntimeMetrics } from './runtime-metrics.ts'
import type { SelinuxMetrics } from './selinux-metrics.ts'
import type { HealthMetrics, HttpMetrics, NodeSocketMetrics, StreamMetrics } from './serving-metrics.ts'
import type { ClaimMetrics, VolumeMetrics } from './volume-metrics.ts'

/** What the agent counts. */
export type AgentCounts = FailureMetrics &
  RuntimeMetrics &
  PodStartMetrics &
  PodLifeMetrics &
  ImageMetrics &
  VolumeMetrics &
  SelinuxMetrics &
  ClaimMetrics &
  ProbeMetrics &
  EvictionMetrics &
  ShutdownMetrics &
  ResizeMetrics &
  CpuMetrics &
  CsiMetrics &
  PlacementMetrics &
  DraMetrics &
  DeviceMetrics &
  HttpMetrics &
  HealthMetrics &
  ClientMetrics &
  AccessMetrics &
  NodeSocketMetrics &
  NodeStartupMetrics &
  StreamMetrics &
  CgroupMetrics &
  TracingMetrics & {
    /** Forgets how the health checks went. */
    resetHealth(): void
  }

/** The names of all that is counted, before any metric is made; the type sees to it that none is forgotten. */
export const AGENT_COUNTS: Readonly<Record<keyof AgentCounts, true>> = {
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
  ownUsersStartFailed: true,
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
  credentialProviderRun: true,
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
  execPluginCall: true,
  execPluginCertificate: true,
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
