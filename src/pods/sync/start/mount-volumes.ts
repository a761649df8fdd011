import { AbortScope } from '../../../base/async/abort-scope.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { VolumesError } from '../../../model/pod/volumes-error.ts'
import type { PassSignals } from '../pod-pass.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import type { PodHistory } from '../pod-history.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'

export interface MountVolumesDeps {
  readonly volumes: {
    /** Resolves when all that containers use are there; fails with a VolumesError. What is under way goes on when the signal aborts. */
    ensure(request: { readonly pod: Pod; readonly noteStep: NoteStep }, signal: AbortSignal): Promise<void>
    /** Mounts what is missing and refreshes what has changed, in the background. */
    keep(request: { readonly pod: Pod; readonly noteStep: NoteStep }): void
  }
  readonly references: {
    /** Keeps the objects of the API that the pod refers to at hand. Comes before anything is read for the pod; repeating it costs nothing. */
    register(pod: Pod): void
  }
  readonly noteStep: NoteStep
  readonly log: Logger
}

/** Changed: something about the pod is news, and it has to be observed again. Missing: mounting failed or took too long. */
export type EnsuredVolumes = 'there' | 'changed' | 'missing'

/** What starts needs its volumes, and waits for them. What runs has them: they are only refreshed. */
export async function mountVolumes(
  { deps, history }: { readonly deps: MountVolumesDeps; readonly history: PodHistory },
  { pod, actions }: { readonly pod: Pod; readonly actions: PodActions },
  signals: PassSignals,
): Promise<EnsuredVolumes> {
  const { volumes, noteStep, log } = deps
  deps.references.register(pod)
  if (!actions.createSandbox && actions.start.length === 0) {
    if (!actions.killPod) volumes.keep({ pod, noteStep })
    return 'there'
  }
  using scope = new AbortScope(signals.superseded)
  history.wait = scope
  try {
    await volumes.ensure({ pod, noteStep }, scope.signal)
    return 'there'
  } catch (error) {
    signals.superseded.throwIfAborted()
    if (scope.signal.aborted) return 'changed'
    if (!(error instanceof VolumesError)) throw error
    history.problem = `Waits for its volumes: ${error.message}`
    log.warn('cannot mount the volumes of a pod, will try again', {
      pod: podLogName(pod),
      uid: pod.metadata.uid,
      error,
    })
    return 'missing'
  } finally {
    history.wait = undefined
  }
}
