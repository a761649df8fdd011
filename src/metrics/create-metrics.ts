import type { AgentCounts } from './agent-counts.ts'
import {
  addBuildMetrics,
  addProcessMetrics,
  addRegistryMetrics,
  addStartTime,
  createFailureMetrics,
} from './process-metrics.ts'
import {
  addNodeMetrics,
  createCgroupMetrics,
  createEvictionMetrics,
  createShutdownMetrics,
  createNodeStartupMetrics,
} from './node-metrics.ts'
import type { NodeMetricSources } from './node-metrics.ts'
import type { ProcessSources } from './process-metrics.ts'
import { createSelinuxMetrics } from './selinux-metrics.ts'
import { addLogMetrics } from './container-log-metrics.ts'
import type { LogUsage } from './container-log-metrics.ts'
import { addCertificateMetrics } from './pod-certificate-metrics.ts'
import type { CertificateState } from './pod-certificate-metrics.ts'
import { addClaimMetrics, createVolumeMetrics } from './volume-metrics.ts'
import type { ClaimUsage, VolumeCount } from './volume-metrics.ts'
import { createClientMetrics, createTracingMetrics } from './api-client-metrics.ts'
import { createCpuMetrics, createPlacementCounters, createPlacementMetrics } from './placement-metrics.ts'
import type { CpuPoolStats } from './placement-metrics.ts'
import { createCsiMetrics, createDeviceMetrics, createDraMetrics } from './driver-metrics.ts'
import {
  createHealthMetrics,
  createHttpMetrics,
  createNodeSocketMetrics,
  createStreamMetrics,
} from './serving-metrics.ts'
import { createAccessMetrics } from './access-metrics.ts'
import { addProviderMetrics, createImageMetrics } from './image-metrics.ts'
import { createPodLifeMetrics } from './pod-life-metrics.ts'
import { createProbeMetrics } from './probe-metrics.ts'
import { createResizeMetrics } from './resize-metrics.ts'
import type { ResizeCounts } from './resize-metrics.ts'
import { createRuntimeMetrics } from './runtime-metrics.ts'
import { createPodStartMetrics } from './pod-start-metrics.ts'
import type { MetricsFormat } from '../base/telemetry/format-metrics.ts'
import { MetricSet } from '../base/telemetry/metric-set.ts'

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
  readonly node: NodeMetricSources
  readonly resizes: () => ResizeCounts
  readonly cpus: () => CpuPoolStats
  /** Claims of devices, by driver. */
  readonly resourceClaims: () => ReadonlyMap<string, number>
  readonly plugins: Parameters<typeof createNodeSocketMetrics>[1]
  /** Of the files that name credential plugins; undefined when there are none. */
  readonly credentialProvidersHash: string | undefined
  readonly podCertificates: () => readonly CertificateState[]
}

export function createMetrics(sources: MetricsSources): AgentMetrics {
  const [main, probes, health] = [new MetricSet(), new MetricSet(), new MetricSet()]
  addProcessMetrics(main, sources)
  addBuildMetrics(main, sources.version)
  addNodeMetrics(main, sources.node)
  addLogMetrics(main, sources.logUsages)
  addProviderMetrics(main, sources.credentialProvidersHash)
  addCertificateMetrics(main, sources.podCertificates)
  addStartTime(probes, sources.startedAt)
  addRegistryMetrics(main, [main, probes, health])
  const placement = createPlacementCounters(main)
  return {
    ...createFailureMetrics(main),
    ...createRuntimeMetrics(main),
    ...createPodStartMetrics(main),
    ...createPodLifeMetrics(main),
    ...createImageMetrics(main),
    ...createVolumeMetrics(main, sources.volumes),
    ...createSelinuxMetrics(main),
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
    ...createClientMetrics(main, sources.node.now),
    ...createAccessMetrics(main),
    ...createNodeSocketMetrics(main, sources.plugins),
    ...createNodeStartupMetrics(main),
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
