import type { JoinClusterDeps } from './join-cluster.ts'
import type { AgentMetrics } from '../metrics/create-metrics.ts'

/** What the clients of the cluster's API tell of themselves, as the agent counts it. */
export function toClusterMetrics(metrics: AgentMetrics): JoinClusterDeps['metrics'] {
  return {
    client: {
      request({ method: verb, code, host, seconds, isRepeat }) {
        metrics.clientRequest({ host, method: verb, verb, code, seconds })
        if (isRepeat) metrics.clientRetry({ host, verb, code })
      },
      waited: ({ method: verb, host, seconds }) => metrics.clientWait({ host, verb, seconds }),
      sized: ({ method: verb, ...sizes }) => metrics.clientSize({ verb, ...sizes }),
    },
    pluginCall: (call) => metrics.credentialPluginCall(call),
    certificate: { renewError: () => metrics.certificateRenewalFailed('client'), rotated() {} },
  }
}
