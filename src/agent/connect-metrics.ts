import { toNodeMetricSources } from '../metrics/scrape/to-node-metric-sources.ts'
import { listLogUsages } from '../node/stats/reports/list-log-usages.ts'
import { readOwnUsage } from '../system/processes/own-usage.ts'
import type { Stages } from './stages.ts'

/** Says what the metrics read when they are scraped. */
export function connectMetrics({ base, runtime, registry, devices, pods, serving }: Stages): void {
  const { settings, cluster, membership, startedAt, loopDelay, metrics } = base
  const node = toNodeMetricSources({
    ...base,
    registry,
    observer: runtime.observer,
    certificates: {
      client: () => cluster?.certificates?.ttlSeconds(),
      server: () => serving.certificates.value?.ttlSeconds(),
    },
  })
  metrics.connect(async () => {
    // Their library costs a tenth of the start, so it is loaded when they are first asked for.
    const { createMetrics } = await import('../metrics/create-metrics.ts')
    return createMetrics({
      version: settings.version,
      startedAt,
      node,
      usage: readOwnUsage,
      volumes: () => pods.volumes.counts(),
      cpus: () => devices.placement.cpus.stats(),
      resourceClaims: () => devices.dra.claims.inUse(),
      claimUsages: () => pods.volumeStats.claimUsages(),
      logUsages: () => listLogUsages(pods.stats.value?.snapshot()),
      resizes: () => pods.resizes.counts(),
      plugins: () => serving.registrations.plugins(),
      credentialProvidersHash: settings.credentialProvidersHash,
      podCertificates: () => membership.projections?.certificateStates() ?? [],
      loopDelay,
    })
  })
}
