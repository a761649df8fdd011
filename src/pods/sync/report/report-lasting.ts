import type { Clock } from '../../../base/async/clock.ts'
import type { PodEvent, PodEvents } from '../../../model/events/pod-events.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { PodHistory } from '../pod-history.ts'

export interface ReportLastingDeps {
  readonly events: PodEvents
  readonly clock: Clock
}

/** Records a warning about something that lasts: at once when it is new, and now and then while it goes on. */
export function reportLasting(
  { events, clock }: ReportLastingDeps,
  { pod, history }: { readonly pod: Pod; readonly history: Pick<PodHistory, 'reported'> },
  { subject, text, ...event }: Omit<PodEvent, 'type'> & { readonly subject: string; readonly text?: string },
): void {
  // The text says more than the message where not every change is to be read.
  if (!history.reported.isDue(subject, text ?? event.message, clock.monotonic())) return
  events.record(pod, { type: 'Warning', ...event })
}

/** What the sandbox could not be given as asked: said while the pod is there. */
export function reportSandboxWarnings(
  deps: ReportLastingDeps,
  { pod, history }: { readonly pod: Pod; readonly history: Pick<PodHistory, 'reported' | 'sandboxWarnings'> },
): void {
  for (const { reason, message } of history.sandboxWarnings)
    reportLasting(deps, { pod, history }, { subject: message, reason, message })
}
