import { CgroupError } from '../../../model/resources/cgroup-error.ts'
import { hasRunningParts } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { PassSignals } from '../pod-pass.ts'
import { computeContainerGrace } from '../decide/compute-grace.ts'
import { Grace } from '../stop/grace.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import type { PodHistory } from '../pod-history.ts'
import { stopPod } from '../stop/stop-pod.ts'
import type { StopPodDeps } from '../stop/stop-pod.ts'

export type EnsureCgroupDeps = StopPodDeps & {
  readonly cgroups: {
    /** Makes the pod's cgroup with its values where there is none; true when it did. Fails with a CgroupError. */
    ensure(pod: Pod): Promise<boolean>
  }
}

/** Changed: what ran without its cgroup was stopped, and the pod has to be observed again. Missing: it could not be made. */
type EnsuredCgroup = 'there' | 'changed' | 'missing'

/** What starts or runs has a cgroup that limits all of the pod together; it comes before volumes, which may be memory. */
export async function ensureCgroup(
  { deps, history }: { readonly deps: EnsureCgroupDeps; readonly history: PodHistory },
  { pod, observed, actions }: { readonly pod: Pod; readonly observed: ObservedPod; readonly actions: PodActions },
  signals: PassSignals,
): Promise<EnsuredCgroup> {
  const runs = hasRunningParts(observed)
  const starts = actions.createSandbox || actions.start.length > 0
  if (!starts && (actions.killPod || !runs)) return 'there'
  const { uid } = pod.metadata
  try {
    const isNew = await deps.cgroups.ensure(pod)
    // What ran before this agent may have its cgroup elsewhere; it is left alone.
    const wasLost = isNew && runs && history.hasCgroup
    history.hasCgroup = true
    if (!wasLost) return 'there'
  } catch (error) {
    if (!(error instanceof CgroupError)) throw error
    history.problem = `Waits for its cgroup: ${error.message}`
    const message = `unable to ensure pod container exists: ${error.message}`
    deps.events.record(pod, { type: 'Warning', reason: 'FailedCreatePodContainer', message })
    deps.log.warn('cannot make the cgroup of a pod, will try again', { pod: podLogName(pod), uid, error })
    return 'missing'
  }
  deps.log.warn('the cgroup of a pod was gone while it ran, stopping what runs without', {
    pod: podLogName(pod),
    uid,
  })
  history.unsure = true
  using grace = new Grace({ clock: deps.clock, seconds: computeContainerGrace(pod), among: history.graces })
  await stopPod(deps, { pod, observed, grace, stoppedSandboxes: history.stoppedSandboxes }, signals.shutdown)
  return 'changed'
}
