import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { RuntimeHint } from '../../protocols/cri/to-runtime-hint.ts'

/**
 * What the runtime has reported, or is about to, when a pod was observed in one state and then in the next. Sandboxes are left out, as not
 * every runtime reports them, and so are containers whose start failed: they end without an event.
 */
export function computeExpectedHints(
  before: ObservedPod | undefined,
  now: ObservedPod | undefined,
): readonly RuntimeHint[] {
  return (now?.containers ?? []).flatMap(({ id, state, startedAt }): readonly RuntimeHint[] => {
    if (before?.containers.find((container) => container.id === id)?.state === state) return []
    if (state === 'running') return [{ containerId: id, kind: 'started' }]
    return state === 'exited' && startedAt > 0 ? [{ containerId: id, kind: 'stopped' }] : []
  })
}
