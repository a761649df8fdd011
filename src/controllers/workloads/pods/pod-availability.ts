import type { Pod } from '../../../model/generated/core-v1.ts'

/** Whether a pod has ended for good. */
export function isTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Neither ended nor about to be deleted. */
export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata?.deletionTimestamp === undefined
}

/** Being deleted, and not ended yet. */
export function isTerminating(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata?.deletionTimestamp !== undefined
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
}

/** Since when a pod is ready, in milliseconds since the epoch; undefined when it is not. */
export function readySince({ status }: Pod): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True') return undefined
  const at = Date.parse(ready.lastTransitionTime ?? '')
  return Number.isNaN(at) ? undefined : at
}

/** How long until a pod has been ready for long enough: 0 when it is available, undefined when it is not ready. */
export function msUntilAvailable(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  if (!isReady(pod)) return undefined
  if (minReadySeconds === 0) return 0
  const since = readySince(pod)
  return since === undefined ? undefined : Math.max(0, since + minReadySeconds * 1000 - now)
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return msUntilAvailable(pod, minReadySeconds, now) === 0
}
