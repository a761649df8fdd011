import { addBuildMetrics } from './add-build-metrics.ts'
import { addRegistryMetrics } from './add-registry-metrics.ts'
import { addNodeMetrics } from './node-metrics.ts'
import type { NodeInfo } from './node-metrics.ts'
import { addProcessMetrics, addStartTime } from './process-metrics.ts'
import type { ProcessSources } from './process-metrics.ts'
import { addClaimMetrics } from './add-claim-metrics.ts'
import type { ClaimMetrics, ClaimUsage } from './add-claim-metrics.ts'
import { addLogMetrics } from './add-log-metrics.ts'
import type { LogUsage } from './add-log-metrics.ts'
import { createCgroupMetrics } from './create-cgroup-metrics.ts'
import type { CgroupMetrics } from './create-cgroup-metrics.ts'
import { createClientMetrics } from './api-client-metrics.ts'
import type { ClientMetrics } from './api-client-metrics.ts'
import { createCpuMetrics } from './create-cpu-metrics.ts'
import type { CpuPoolStats, CpuMetrics } from './create-cpu-metrics.ts'
import { createCsiMetrics } from './create-csi-metrics.ts'
import type { CsiMetrics } from './create-csi-metrics.ts'
import { createDraMetrics } from './driver-metrics.ts'
import type { DraMetrics } from './driver-metrics.ts'
import { createDeviceMetrics } from './create-device-metrics.ts'
import type { DeviceMetrics } from './create-device-metrics.ts'
import { createEvictionMetrics } from './create-eviction-metrics.ts'
import type { EvictionMetrics } from './create-eviction-metrics.ts'
import { createHealthMetrics } from './create-health-metrics.ts'
import type { HealthMetrics } from './create-health-metrics.ts'
import { createHttpMetrics } from './serving-metrics.ts'
import type { HttpMetrics } from './serving-metrics.ts'
import { createImageMetrics } from './image-metrics.ts'
import type { ImageMetrics } from './image-metrics.ts'
import { createNodeApiMetrics } from './create-node-api-metrics.ts'
import type { NodeApiMetrics } from './create-node-api-metrics.ts'
import { createPlacementCounters } from './create-placement-counters.ts'
import { createPlacementMetrics } from './placement-metrics.ts'
import type { PlacementMetrics } from './placement-metrics.ts'
import { createPodLifeMetrics } from './pod-life-metrics.ts'
import type { PodLifeMetrics } from './pod-life-metrics.ts'
import { createProbeMetrics } from './probe-metrics.ts'
import type { ProbeMetrics } from './probe-metrics.ts'
import { createResizeMetrics } from './resize-metrics.ts'
import type { ResizeCounts, ResizeMetrics } from './resize-metrics.ts'
import { createRuntimeMetrics } from './runtime-metrics.ts'
import type { RuntimeMetrics } from './runtime-metrics.ts'
import { createShutdownMetrics } from './create-shutdown-metrics.ts'
import type { ShutdownMetrics } from './create-shutdown-metrics.ts'
import { createStartMetrics } from './start-metrics.ts'
import type { StartMetrics } from './start-metrics.ts'
import { createStartupMetrics } from './create-startup-metrics.ts'
import type { StartupMetrics } from './create-startup-metrics.ts'
import { createStreamMetrics } from './create-stream-metrics.ts'
import type { StreamMetrics } from './create-stream-metrics.ts'
import { createTracingMetrics } from './create-tracing-metrics.ts'
import type { TracingMetrics } from './create-tracing-metrics.ts'
import { createVolumeMetrics } from './volume-metrics.ts'
import type { VolumeCount, VolumeMetrics } from './volume-metrics.ts'
import type { MetricsFormat } from '../base/telemetry/format-metrics.ts'
import { MetricSet } from '../base/telemetry/metric-set.ts'

/** What the agent counts. */
export type AgentCounts = RuntimeMetrics &
  StartMetrics &
  PodLifeMetrics &
  ImageMetrics &
  VolumeMetrics &
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
  NodeApiMetrics &
  StartupMetrics &
  StreamMetrics &
  CgroupMetrics &
  TracingMetrics & {
    /** Forgets how the health checks went. */
    resetHealth(): void
  }

type Rendered = Promise<{ readonly type: string; readonly body: string }>

/** What the agent counts about itself, under the names of the Go kubelet where it has one. */
export interface AgentMetrics extends AgentCounts {
  /** All but those that are shown on their own. */
  render(format: MetricsFormat): Rendered
  renderProbes(format: MetricsFormat): Rendered
  renderHealth(format: MetricsFormat): Rendered
}

export interface MetricsSources extends ProcessSources {
  readonly version: string
  /** By plugin. */
  readonly volumes: () => readonly VolumeCount[]
  readonly claimUsages: () => readonly ClaimUsage[]
  readonly logUsages: () => readonly LogUsage[]
  readonly node: NodeInfo
  readonly resizes: () => ResizeCounts
  readonly cpus: () => CpuPoolStats
  /** Claims of devices, by driver. */
  readonly resourceClaims: () => ReadonlyMap<string, number>
  readonly plugins: Parameters<typeof createNodeApiMetrics>[1]
}

export function createMetrics(sources: MetricsSources): AgentMetrics {
  const [main, probes, health] = [new MetricSet(), new MetricSet(), new MetricSet()]
  addProcessMetrics(main, sources)
  addBuildMetrics(main, sources.version)
  addNodeMetrics(main, sources.node)
  addLogMetrics(main, sources.logUsages)
  addStartTime(probes, sources.startedAt)
  addRegistryMetrics(main, [main, probes, health])
  const placement = createPlacementCounters(main)
  return {
    ...createRuntimeMetrics(main),
    ...createStartMetrics(main),
    ...createPodLifeMetrics(main),
    ...createImageMetrics(main),
    ...createVolumeMetrics(main, sources.volumes),
    ...addClaimMetrics(main, sources.claimUsages),
    ...createEvictionMetrics(main),
    ...createShutdownMetrics(main),
    ...createResizeMetrics(main, sources.resizes),
    ...createCsiMetrics(main),
    ...createCpuMetrics(main, placement, sources.cpus),
    ...createPlacementMetrics(main, placement),
    ...createDraMetrics(main, sources.resourceClaims),
    ...createDeviceMetrics(main),
    ...createHttpMetrics(main),
    ...createClientMetrics(main),
    ...createNodeApiMetrics(main, sources.plugins),
    ...createStartupMetrics(main),
    ...createStreamMetrics(main),
    ...createCgroupMetrics(main),
    ...createTracingMetrics(main),
    ...createProbeMetrics(probes),
    ...createHealthMetrics(health),
    resetHealth: () => health.reset(),
    render: (format) => main.render(format),
    renderProbes: (format) => probes.render(format),
    renderHealth: (format) => health.render(format),
  }
}
