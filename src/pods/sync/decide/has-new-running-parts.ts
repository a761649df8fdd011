import type { ObservedPod } from '../../../model/pod/observed-pod.ts'

/** Does something run now that did not run when the runtime was observed before? A call that seemed to fail may have done its work. */
export function hasNewRunningParts(before: ObservedPod | undefined, after: ObservedPod | undefined): boolean {
  const known = new Set(runningIds(before))
  return runningIds(after).some((id) => !known.has(id))
}

function runningIds(pod: ObservedPod | undefined): string[] {
  return [
    ...(pod?.sandboxes ?? []).filter(({ ready }) => ready),
    ...(pod?.containers ?? []).filter(({ state }) => state === 'running'),
  ].map(({ id }) => id)
}
