import type { PodCondition, PodStatus } from '../../model/generated/core-v1.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** A part of a strategic merge patch: null takes a member away. */
export type StatusPatch = Readonly<Record<string, unknown>>

type Json = Readonly<Record<string, unknown>>
type Address = { readonly ip?: string | undefined }

const PLAIN = [
  'allocatedResources',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'hostIP',
  'initContainerStatuses',
  'message',
  'observedGeneration',
  'phase',
  'podIP',
  'qosClass',
  'reason',
  'resources',
  'startTime',
] as const satisfies readonly (keyof PodStatus)[]
// Reported only while there is something to report; the others are never taken back.
const PASSING = ['PodResizePending', 'PodResizeInProgress', 'AllContainersRestarting']

/**
 * The strategic merge patch that turns what the API holds of a status into what it should hold; undefined when that is the same. It touches
 * nothing that the node has no say in.
 */
export function computeStatusPatch(before: PodStatus, after: PodStatus): StatusPatch | undefined {
  const patch: Record<string, unknown> = {}
  for (const key of PLAIN) {
    const change = diff(before[key], after[key])
    if (change !== SAME) patch[key] = change
  }
  const conditions = diffConditions(before.conditions ?? [], after.conditions ?? [])
  if (conditions.length > 0) patch['conditions'] = conditions
  for (const key of ['hostIPs', 'podIPs'] as const) Object.assign(patch, diffAddresses(key, before[key], after[key]))
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** Does a patch say all that another says? */
export function hasAll(patch: StatusPatch, other: StatusPatch): boolean {
  const conditions = (patch['conditions'] ?? []) as readonly Json[]
  return Object.entries(other).every(([key, value]) =>
    key === 'conditions'
      ? (value as readonly Json[]).every((part) =>
          isPart(
            part,
            conditions.find(({ type }) => type === part['type']),
          ),
        )
      : isPart(value, patch[key]),
  )
}

function isPart(part: unknown, whole: unknown): boolean {
  if (!isRecord(part) || !isRecord(whole)) return isSame(part, whole)
  return Object.entries(part).every(([key, value]) => isPart(value, whole[key]))
}

const SAME = Symbol('same')

/** Maps are merged, so what went out of one is named; anything else is replaced whole. */
function diff(before: unknown, after: unknown): unknown {
  if (isSame(before, after)) return SAME
  if (after === undefined) return null
  if (!isRecord(before) || !isRecord(after)) return after
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  const changes = [...keys].map((key) => [key, diff(before[key], after[key])] as const)
  return Object.fromEntries(changes.filter(([, change]) => change !== SAME))
}

function diffConditions(before: readonly PodCondition[], after: readonly PodCondition[]): readonly Json[] {
  const changed = after.flatMap((condition) => {
    const change = diff(before.find(({ type }) => type === condition.type) ?? {}, condition)
    return change === SAME ? [] : [{ ...(change as Json), type: condition.type }]
  })
  const gone = before.filter(
    ({ type }) => PASSING.includes(type) && !after.some((condition) => condition.type === type),
  )
  return [...changed, ...gone.map(({ type }) => ({ $patch: 'delete', type }))]
}

/** Lists that are merged by address: the first one counts most, so their order is reported too. */
function diffAddresses(key: string, before: readonly Address[] = [], after: readonly Address[] = []): Json {
  if (isSame(before, after)) return {}
  const gone = before.filter(({ ip }) => !after.some((address) => address.ip === ip))
  return {
    [`$setElementOrder/${key}`]: after,
    [key]: [...after, ...gone.map(({ ip }) => ({ $patch: 'delete', ip }))],
  }
}

/** An absent member and an undefined one are the same. */
function isSame(before: unknown, after: unknown): boolean {
  if (before === after) return true
  if (Array.isArray(before) && Array.isArray(after)) {
    return before.length === after.length && before.every((item, index) => isSame(item, after[index]))
  }
  if (!isRecord(before) || !isRecord(after)) return false
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].every((key) => isSame(before[key], after[key]) || saysNothing(key, before[key], after[key]))
}

/** The Go server writes an empty state where it got none. */
function saysNothing(key: string, before: unknown, after: unknown): boolean {
  return key === 'lastState' && after === undefined && isRecord(before) && Object.keys(before).length === 0
}
