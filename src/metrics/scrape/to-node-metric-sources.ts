import type { Clock } from '../../base/async/clock.ts'
import { FEATURE_GATES } from '../../model/config/gates/feature-gate-table.ts'
import type { FeatureGate } from '../../model/config/gates/feature-gate-table.ts'
import type { FeatureGates } from '../../model/config/gates/feature-gates.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { NodeMetricSources } from '../node-metrics.ts'

export interface NodeMetricDeps {
  readonly settings: Pick<Settings, 'nodeName' | 'gates'>
  readonly machine: { readonly cgroupVersion: 1 | 2 }
  readonly registry: {
    views(): ReturnType<NodeMetricSources['wanted']>
    states(): ReturnType<NodeMetricSources['worked']>
  }
  readonly observer: { uids(): readonly PodUid[]; get(uid: PodUid): ObservedPod | undefined }
  /** For how many seconds the agent's certificates are valid; undefined or without end where there is none. */
  readonly certificates: {
    client(): number | undefined
    server(): number | undefined
  }
  readonly clock: Clock
}

const STAGES: Readonly<Record<string, string>> = { A: 'ALPHA', B: 'BETA', D: 'DEPRECATED', G: '' }

/** What metrics read of this node when they are scraped. */
export function toNodeMetricSources(deps: NodeMetricDeps): NodeMetricSources {
  const { settings, machine, registry, observer, certificates, clock } = deps
  return {
    name: settings.nodeName,
    cgroupVersion: machine.cgroupVersion,
    gates: () => listGates(settings.gates),
    wanted: () => registry.views(),
    observed: () => observer.uids().flatMap((uid) => observer.get(uid) ?? []),
    worked: () => registry.states(),
    certificates: () => ({
      client: toEnd(clock, certificates.client()),
      server: toEnd(clock, certificates.server()),
    }),
    now: () => clock.now(),
  }
}

function listGates(gates: FeatureGates): ReturnType<NodeMetricSources['gates']> {
  return Object.entries(FEATURE_GATES).map(([name, kind]) => ({
    name,
    stage: STAGES[kind.slice(0, 1)] ?? '',
    enabled: gates.enabled(name as FeatureGate),
  }))
}

/** Without end is without a certificate. */
function toEnd(clock: Clock, ttlSeconds: number | undefined): number | undefined {
  return ttlSeconds === undefined || ttlSeconds === Infinity ? undefined : clock.now() + ttlSeconds * 1000
}
