import { AbortScope } from '../../../base/async/abort-scope.ts'
import { InjectionsError } from '../../../model/pod/injections-error.ts'
import type { LateRejection } from '../../../model/pod/injections-error.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { PassSignals } from '../pod-pass.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import type { PodHistory } from '../pod-history.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import type { PodInjections } from './pod-injections.ts'

export interface PrepareInjectionsDeps {
  readonly injections: Pick<PodInjections, 'ensure'>
  readonly noteStep: NoteStep
  readonly log: Logger
}

/** Changed: something about the pod is news, and it has to be observed again. Missing: it is tried again. An end is the pod's. */
type PreparedInjections = 'there' | 'changed' | 'missing' | LateRejection

/** What starts needs what its pod was promised, such as devices, and waits for it. */
export async function prepareInjections(
  { deps, history }: { readonly deps: PrepareInjectionsDeps; readonly history: PodHistory },
  { pod, actions }: { readonly pod: Pod; readonly actions: PodActions },
  signals: PassSignals,
): Promise<PreparedInjections> {
  if (!actions.createSandbox && actions.start.length === 0) return 'there'
  using scope = new AbortScope(signals.superseded)
  history.wait = scope
  try {
    await deps.injections.ensure({ pod, startsAgain: actions.createSandbox, noteStep: deps.noteStep }, scope.signal)
    return 'there'
  } catch (error) {
    signals.superseded.throwIfAborted()
    if (scope.signal.aborted) return 'changed'
    if (!(error instanceof InjectionsError)) throw error
    const fields = { pod: podLogName(pod), uid: pod.metadata.uid, error }
    if (error.end !== undefined) {
      deps.log.warn('pod cannot have what it was promised, it ends', fields)
      return error.end
    }
    history.problem = `Waits for its devices: ${error.message}`
    deps.log.warn('cannot prepare the devices of a pod, will try again', fields)
    return 'missing'
  } finally {
    history.wait = undefined
  }
}
