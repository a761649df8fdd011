import type { FeatureGates } from '../../model/config/gates/feature-gates.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { PodUpdate } from '../../model/pod/pod-update.ts'
import { computeEnabledFields } from './compute-enabled-fields.ts'

/** An update whose pods ask only for what is switched on. What is left out of a new pod is an event on it, each field once. */
export function leaveOutSwitchedOff(
  update: PodUpdate,
  { gates, events }: { readonly gates: FeatureGates; readonly events: Pick<PodEvents, 'record'> },
): PodUpdate {
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
