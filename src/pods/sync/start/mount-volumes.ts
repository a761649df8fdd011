import { AbortScope } from '../../../base/async/abort-scope.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { VolumesError } from '../../../model/pod/volumes-error.ts'
import type { ApplySignals } from '../apply-signals.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import type { PodHistory } from '../pod-history.ts'
import type { PodRuntime } from '../pod-runtime.ts'

/** Changed: something about the pod is news, and it has to be looked at again. Missing: tried for long enough, or in vain. */
export type EnsuredVolumes = 'there' | 'changed' | 'missing'

/** Whatever starts needs its volumes, and waits for them. What runs has them: they are only looked after. */
export async function mountVolumes(
  { runtime, history }: { readonly runtime: PodRuntime; readonly history: PodHistory },
  { pod, actions }: { readonly pod: Pod; readonly actions: PodActions },
  signals: ApplySignals,
): Promise<EnsuredVolumes> {
  const { volumes, noteStep, log } = runtime
  runtime.references.register(pod)
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
    log.warn('cannot bring the volumes of a pod, will try again', {
      pod: podLogName(pod),
      uid: pod.metadata.uid,
      error,
    })
    return 'missing'
  } finally {
    history.wait = undefined
  }
}
