import type { Node, NodeAddress, NodeCondition } from '../../../model/generated/core-v1.ts'
import { isRecord } from '../../../base/document/is-record.ts'

/** A strategic merge patch; undefined when there is nothing to say. */
export type NodePatch = Readonly<Record<string, unknown>>

type Fields = Readonly<Record<string, unknown>>

/** The patch from one Node object to the other, through its status subresource: labels, annotations and the status, never the spec. */
export function computeNodePatch(before: Node, after: Node): NodePatch | undefined {
  const metadata = diff(
    { labels: before.metadata?.labels, annotations: before.metadata?.annotations },
    { labels: after.metadata?.labels, annotations: after.metadata?.annotations },
  )
  const { conditions: oldConditions, addresses: oldAddresses, ...oldStatus } = before.status ?? {}
  const { conditions, addresses, ...status } = after.status ?? {}
  const parts = {
    ...diff(oldStatus, status),
    ...patchConditions(oldConditions ?? [], conditions ?? []),
    ...patchAddresses(oldAddresses ?? [], addresses ?? []),
  }
  if (metadata === undefined && Object.keys(parts).length === 0) return undefined
  return {
    ...(metadata === undefined ? {} : { metadata }),
    ...(Object.keys(parts).length === 0 ? {} : { status: parts }),
  }
}

/** Does the status say something else, or do labels? The times of heartbeats do not count. */
export function computeNodeChanged(before: Node, after: Node): boolean {
  return computeNodePatch(withoutHeartbeats(before), withoutHeartbeats(after)) !== undefined
}

function withoutHeartbeats(node: Node): Node {
  const conditions = node.status?.conditions?.map((condition) => ({ ...condition, lastHeartbeatTime: '' }))
  return { ...node, status: { ...node.status, conditions } }
}

/** Conditions are merged by their type, so those of others need not be sent. */
function patchConditions(before: readonly NodeCondition[], after: readonly NodeCondition[]): Fields {
  const changed = after.filter((condition) => {
    const old = before.find(({ type }) => type === condition.type)
    return old === undefined || diff(old, condition) !== undefined
  })
  return changed.length === 0 ? {} : { conditions: changed }
}

/** Addresses would be merged by their type too, and lose all but one of each: they are replaced as a whole. */
function patchAddresses(before: readonly NodeAddress[], after: readonly NodeAddress[]): Fields {
  if (isSame(before, after)) return {}
  return { addresses: before.length === 0 ? after : [...after, { $patch: 'replace' }] }
}

/** Fields of the second that the first has not or has otherwise; null for those that only the first has. */
function diff(before: object, after: object): Fields | undefined {
  const old = new Map<string, unknown>(Object.entries(before))
  const now = new Map<string, unknown>(Object.entries(after))
  const entries = [...new Set([...old.keys(), ...now.keys()])].flatMap((name): [string, unknown][] => {
    const [was, is] = [old.get(name), now.get(name)]
    if (isSame(was, is)) return []
    if (isNothing(is)) return [[name, null]]
    if (!isRecord(was) || !isRecord(is)) return [[name, is]]
    const inner = diff(was, is)
    return inner === undefined ? [] : [[name, inner]]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function isSame(a: unknown, b: unknown): boolean {
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b)
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]))
  return isRecord(a) && isRecord(b) ? diff(a, b) === undefined : a === b
}

/** An API leaves out what is empty, so empty and absent are the same. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.values(value).every(isNothing)
}
