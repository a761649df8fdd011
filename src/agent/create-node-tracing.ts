import type { Clock } from '../base/async/clock.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import type { TracingMetrics } from '../metrics/api-client-metrics.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { Tracing } from '../protocols/tracing/create-tracing.ts'

export interface NodeTracingDeps {
  readonly settings: Pick<Settings, 'config' | 'nodeName' | 'version'>
  readonly metrics: TracingMetrics
  readonly clock: Clock
  readonly log: Logger
}

/** Traces as the configuration wants them; undefined, and nothing of it loaded, when it wants none. */
export async function createNodeTracing({ settings, ...deps }: NodeTracingDeps): Promise<Tracing | undefined> {
  const { tracing } = settings.config
  if (tracing === undefined) return undefined
  const { createTracing } = await import('../protocols/tracing/create-tracing.ts')
  return createTracing({
    ...deps,
    ...tracing,
    attributes: { 'service.name': 'kubelet', 'host.name': settings.nodeName },
    version: settings.version,
  })
}
