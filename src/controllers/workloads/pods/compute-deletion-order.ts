import type { ContainerStatus, Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { isReady, readySince } from './pod-availability.ts'

const COST = 'controller.kubernetes.io/pod-deletion-cost'
const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/** What the order depends on besides the pods. */
export interface DeletionOrder {
  readonly now: number
  /** Jobs take neither the annotation with the cost nor rough ages into account. */
  readonly isPlain?: boolean
}

/** The pods in the order in which they are given up: those that cost least first. */
export function computeDeletionOrder(pods: readonly Live<Pod>[], order: DeletionOrder): readonly Live<Pod>[] {
  return pods.toSorted((a, b) => compare(a, b, order))
}

function compare(a: Live<Pod>, b: Live<Pod>, { now, isPlain = false }: DeletionOrder): number {
  return (
    number(Boolean(a.spec.nodeName)) - number(Boolean(b.spec.nodeName)) ||
    phaseOf(a) - phaseOf(b) ||
    number(isReady(a)) - number(isReady(b)) ||
    (isPlain ? 0 : costOf(a) - costOf(b)) ||
    compareAges(a, b, isReady(a) && isReady(b) ? [readySince(a), readySince(b)] : undefined, { now, isPlain }) ||
    restartsOf(b.status?.containerStatuses) - restartsOf(a.status?.containerStatuses) ||
    restartsOf(b.status?.initContainerStatuses) - restartsOf(a.status?.initContainerStatuses) ||
    compareAges(
      a,
      b,
      [Date.parse(a.metadata.creationTimestamp ?? ''), Date.parse(b.metadata.creationTimestamp ?? '')],
      {
        now,
        isPlain,
      },
    )
  )
}

/** The younger one first; of two that are about the same age the one with the lower UID, so that the choice is not always the newest. */
function compareAges(
  a: Live<Pod>,
  b: Live<Pod>,
  times: readonly [number | undefined, number | undefined] | undefined,
  { now, isPlain }: { readonly now: number; readonly isPlain: boolean },
): number {
  if (times === undefined) return 0
  const [first, second] = times
  if (first === undefined || second === undefined) return number(first !== undefined) - number(second !== undefined)
  if (first === second) return 0
  if (isPlain) return second - first
  return bucketOf(now - first) - bucketOf(now - second) || (a.metadata.uid < b.metadata.uid ? -1 : 1)
}

/** Ages are compared by powers of two of their nanoseconds. */
function bucketOf(ms: number): number {
  return ms <= 0 ? -1 : Math.floor(Math.log2(ms * 1e6))
}

function number(value: boolean): number {
  return value ? 1 : 0
}

function phaseOf({ status }: Pod): number {
  return PHASES[status?.phase ?? ''] ?? 0
}

function costOf({ metadata }: Pod): number {
  const text = metadata?.annotations?.[COST] ?? ''
  const value = Number(text)
  return /^(?:0|-?[1-9]\d{0,9})$/.test(text) && Math.abs(value) < 2 ** 31 ? value : 0
}

function restartsOf(statuses: readonly ContainerStatus[] | undefined): number {
  return Math.max(0, ...(statuses ?? []).map(({ restartCount }) => restartCount))
}
