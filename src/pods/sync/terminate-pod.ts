import type { PodEvents } from '../../model/events/pod-events.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { computeContainerGrace } from './decide/compute-grace.ts'
import type { PodProbing } from './probing/pod-probing.ts'
import { releaseInjections } from './stop/release-injections.ts'
import type { ReleaseInjectionsDeps } from './stop/release-injections.ts'
import { ORPHAN_GRACE_SECONDS, stopAndRefresh } from './stop/stop-and-refresh.ts'
import type { PodTermination } from './stop/pod-termination.ts'
import type { StopInput, StopAndRefreshDeps, StopResult } from './stop/stop-and-refresh.ts'

export type TerminatePodDeps = StopAndRefreshDeps & ReleaseInjectionsDeps & { readonly events: PodEvents }

export interface TerminatePodInput extends StopInput {
  readonly probing: PodProbing
  /** Undefined: as long as the pod asks for. */
  readonly graceSeconds: number | undefined
  readonly termination: PodTermination
}

export type TerminateResult =
  | { readonly kind: 'ended' }
  | { readonly kind: 'wait'; readonly ms: number; readonly seen: ObservedPod | undefined }

/** Stops all that runs of a pod, gives its devices back, and reports the status that it ends with. */
export async function terminatePod(
  deps: TerminatePodDeps,
  ending: TerminatePodInput,
  shutdown: AbortSignal,
): Promise<TerminateResult> {
  const { pod, observed, history, probing } = ending
  probing.probes.endRegular()
  const { seen, retryMs } = await stop(deps, ending, shutdown)
  if (retryMs !== undefined) return { kind: 'wait', ms: retryMs, seen }
  await probing.probes.end()
  const waitMs = await releaseInjections(deps, { ...observed(), history }, shutdown)
  if (waitMs !== undefined) return { kind: 'wait', ms: waitMs, seen }
  if (pod !== undefined) await probing.updateStatus(pod, observed(), true)
  return { kind: 'ended' }
}

async function stop(deps: TerminatePodDeps, ending: TerminatePodInput, shutdown: AbortSignal): Promise<StopResult> {
  const { pod, termination } = ending
  // Where an earlier agent began to end an orphan, what is left of its grace period counts.
  const own = pod === undefined ? (termination.secondsLeft ?? ORPHAN_GRACE_SECONDS) : computeContainerGrace(pod)
  const graceSeconds = termination.begin(ending.graceSeconds ?? own)
  try {
    const work = () => stopAndRefresh(deps, { ...ending, graceSeconds }, shutdown)
    return await termination.keepNoted(work, shutdown)
  } catch (error) {
    if (error instanceof CriCallError && pod !== undefined) {
      const message = `error killing pod: ${error.rpcText}`
      deps.events.record(pod, { type: 'Warning', reason: 'FailedKillPod', message })
    }
    throw error
  }
}
