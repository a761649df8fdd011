import type { FeatureGates } from '../../model/config/gates/feature-gates.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { PodUpdate } from '../../model/pod/pod-update.ts'
import { computeEnabledFields } from './compute-enabled-fields.ts'

export interface DeliverPodsDeps {
  readonly gates: FeatureGates
  readonly workers: { handle(update: PodUpdate): void }
  readonly metrics: {
    /** A new pod with so many containers. */
    podSeen(containers: number): void
  }
  /** Who watches pods. */
  readonly changes: { changed(uid: PodUid): void }
  readonly events: Pick<PodEvents, 'record'>
}

/** Hands a step of the sources to the workers. Its pods ask only for what is switched on. */
export function deliverPods(given: PodUpdate, deps: DeliverPodsDeps): void {
  const { workers, metrics, changes } = deps
  const update = leaveOutSwitchedOff(given, deps)
  if (update.operation === 'ADD') for (const { spec } of update.pods) metrics.podSeen(spec.containers.length)
  workers.handle(update)
  for (const { metadata } of update.pods) changes.changed(metadata.uid)
}

/** What is left out of a new pod is an event on it, each field once. */
function leaveOutSwitchedOff(update: PodUpdate, { gates, events }: DeliverPodsDeps): PodUpdate {
  const pods = update.pods.map((given) => {
    const { pod, ignored } = computeEnabledFields(given, gates)
    for (const { path, gate } of update.operation === 'ADD' ? ignored : []) {
      const message = `Ignored ${path}: the feature gate ${gate} is off`
      events.record(pod, { type: 'Warning', reason: 'UnsupportedField', message })
    }
    return pod
  })
  return { ...update, pods }
}
