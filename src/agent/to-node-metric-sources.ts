import type { Clock } from '../base/async/clock.ts'
import { FEATURE_GATES } from '../model/config/gates/feature-gate-table.ts'
import type { FeatureGate } from '../model/config/gates/feature-gate-table.ts'
import type { FeatureGates } from '../model/config/gates/feature-gates.ts'
import type { Settings } from '../model/config/load-configuration.ts'
import type { Observer } from '../pods/observe/observer.ts'
import type { PodWorkers } from '../pods/sync/pod-workers.ts'
import type { NodeMetricSources } from '../metrics/node-metrics.ts'

export interface NodeInfoDeps {
  readonly settings: Pick<Settings, 'nodeName' | 'gates'>
  readonly machine: { readonly cgroupVersion: 1 | 2 }
  /** As functions, since metrics are made before there are any. */
  readonly workers: () => Pick<PodWorkers, 'views' | 'explain'>
  readonly observer: () => Pick<Observer, 'uids' | 'get'>
  readonly certificates: NodeMetricSources['certificates']
  readonly clock: Clock
}

const STAGES: Readonly<Record<string, string>> = { A: 'ALPHA', B: 'BETA', D: 'DEPRECATED', G: '' }

/** What metrics read of this node when somebody asks. */
export function toNodeMetricSources({
  settings,
  machine,
  workers,
  observer,
  certificates,
  clock,
}: NodeInfoDeps): NodeMetricSources {
  return {
    name: settings.nodeName,
    cgroupVersion: machine.cgroupVersion,
    gates: () => listGates(settings.gates),
    wanted: () => workers().views(),
    observed: () =>
      observer()
        .uids()
        .flatMap((uid) => observer().get(uid) ?? []),
    worked: () => workers().explain(),
    certificates,
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
