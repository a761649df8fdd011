import { CgroupError } from '../../../model/resources/cgroup-error.ts'
import { hasRunningParts } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { ApplySignals } from '../apply-signals.ts'
import { computeContainerGrace } from '../decide/compute-grace.ts'
import { Grace } from '../stop/grace.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import type { PodHistory } from '../pod-history.ts'
import type { PodRuntime } from '../pod-runtime.ts'
import { stopPod } from '../stop/stop-pod.ts'

/** Changed: what ran without its cgroup was stopped, and the pod has to be looked at again. Missing: it could not be made. */
type EnsuredCgroup = 'there' | 'changed' | 'missing'

/** Whatever starts or runs has a cgroup that limits all of the pod together; it comes before volumes, which may be memory. */
export async function ensureCgroup(
  { runtime, history }: { readonly runtime: PodRuntime; readonly history: PodHistory },
  { pod, observed, actions }: { readonly pod: Pod; readonly observed: ObservedPod; readonly actions: PodActions },
  signals: ApplySignals,
): Promise<EnsuredCgroup> {
  const runs = hasRunningParts(observed)
  const starts = actions.createSandbox || actions.start.length > 0
  if (!starts && (actions.killPod || !runs)) return 'there'
  const { uid } = pod.metadata
  try {
    const isNew = await runtime.cgroups.ensure(pod)
    // What ran before this agent may have its cgroup elsewhere; it is left alone.
    const wasLost = isNew && runs && history.hasCgroup
    history.hasCgroup = true
    if (!wasLost) return 'there'
  } catch (error) {
    if (!(error instanceof CgroupError)) throw error
    history.problem = `Waits for its cgroup: ${error.message}`
    runtime.events.record(pod, { type: 'Warning', reason: 'FailedToCreatePodContainer', message: error.message })
    runtime.log.warn('cannot make the cgroup of a pod, will try again', { pod: podLogName(pod), uid, error })
    return 'missing'
  }
  runtime.log.warn('the cgroup of a pod was gone while it ran, stopping what runs without', {
    pod: podLogName(pod),
    uid,
  })
  history.unsure = true
  using grace = new Grace({ clock: runtime.clock, seconds: computeContainerGrace(pod), among: history.graces })
  await stopPod(runtime, { pod, observed, grace }, signals.shutdown)
  return 'changed'
}
