import type { Node } from '../../model/generated/core-v1.ts'
import type { KnownDrivers } from './csi-node-object.ts'
import { isRecord } from '../../base/document/is-record.ts'

/** What the Node object says of its drivers, and which topologies conflict with it. */
export interface DriverMarks {
  /** A merge patch; undefined when the object is as it should be. */
  readonly patch: { readonly metadata: Readonly<Record<string, Readonly<Record<string, string | null>>>> } | undefined
  /** By driver: why its topology cannot be reported. */
  readonly collisions: ReadonlyMap<string, string>
}

const NODE_IDS_ANNOTATION = 'csi.volume.kubernetes.io/nodeid'

/**
 * The ids that drivers have for the node, and where they say it is. Labels stay when a driver goes: volumes that were made by it are
 * still to be found by them, and another driver may say the same.
 */
export function computeDriverMarks(node: Node, known: KnownDrivers): DriverMarks {
  const { annotations = {} } = node.metadata ?? {}
  const collisions = new Map<string, string>()
  const oldLabels = new Map(Object.entries(node.metadata?.labels ?? {}))
  const labels = new Map(oldLabels)
  for (const [driver, info] of known) {
    if (info === 'gone') continue
    const topology = Object.entries(info.topology)
    const taken = topology.find(([name, value]) => (labels.get(name) ?? value) !== value)
    if (taken === undefined) for (const [name, value] of topology) labels.set(name, value)
    else collisions.set(driver, describeCollision(taken, labels.get(taken[0]) ?? ''))
  }
  const newLabels = [...labels].filter(([name]) => !oldLabels.has(name))
  const before = annotations[NODE_IDS_ANNOTATION]
  const after = nextNodeIds(before, known)
  const metadata = {
    ...(after !== before && { annotations: { [NODE_IDS_ANNOTATION]: after ?? null } }),
    ...(newLabels.length > 0 && { labels: Object.fromEntries(newLabels) }),
  }
  return { patch: Object.keys(metadata).length === 0 ? undefined : { metadata }, collisions }
}

function describeCollision([name, value]: readonly [string, string], existing: string): string {
  return `the driver says "${name}" is "${value}", and the label of the node says "${existing}"`
}

function nextNodeIds(text: string | undefined, known: KnownDrivers): string | undefined {
  const before = parseNodeIds(text)
  const ids = new Map(before)
  for (const [driver, info] of known) {
    if (info === 'gone') ids.delete(driver)
    else ids.set(driver, info.nodeId)
  }
  const isSame = ids.size === before.size && [...ids].every(([driver, id]) => before.get(driver) === id)
  if (isSame) return text
  if (ids.size === 0) return undefined
  const sorted = [...ids].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(Object.fromEntries(sorted))
}

/** An annotation that cannot be parsed is overwritten. */
function parseNodeIds(text = ''): ReadonlyMap<string, string> {
  try {
    const value: unknown = JSON.parse(text)
    const entries = isRecord(value) ? Object.entries(value) : []
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return new Map()
  }
}
