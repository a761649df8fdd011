import { MIGRATED_PLUGINS } from '../../model/pod/migrated-plugins.ts'
import type { CsiNode, CsiNodeDriver, CsiNodeOwner, DriverInfo, KnownDrivers } from './csi-node-object.ts'

/** The next thing to do with the CSINode object; undefined when it is as it should be. */
export type CsiNodeChange =
  | { readonly kind: 'create' | 'replace'; readonly object: CsiNode }
  /** It belongs to an earlier node of this name. */
  | { readonly kind: 'delete' }
  | undefined

const MIGRATED_ANNOTATION = 'storage.alpha.kubernetes.io/migrated-plugins'
const LARGEST_COUNT = 2n ** 31n - 1n

/** One step towards a CSINode that says what is known of the drivers; after the last there is none. */
export function computeCsiNodeChange(
  existing: CsiNode | undefined,
  owner: CsiNodeOwner,
  known: KnownDrivers,
): CsiNodeChange {
  if (existing === undefined) return { kind: 'create', object: createCsiNode(owner, known) }
  if (!isOwned(existing, owner)) return { kind: 'delete' }
  const before = existing.spec.drivers ?? []
  const drivers = nextDrivers(before, known)
  const hasAnnotation = isMigratedList(existing.metadata.annotations?.[MIGRATED_ANNOTATION])
  if (drivers === undefined && hasAnnotation) return undefined
  const annotations = { ...existing.metadata.annotations, [MIGRATED_ANNOTATION]: MIGRATED_PLUGINS.join(',') }
  return {
    kind: 'replace',
    object: {
      ...existing,
      metadata: { ...existing.metadata, annotations },
      spec: { ...existing.spec, drivers: drivers ?? before },
    },
  }
}

function createCsiNode({ name, uid }: CsiNodeOwner, known: KnownDrivers): CsiNode {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: {
      name,
      annotations: { [MIGRATED_ANNOTATION]: MIGRATED_PLUGINS.join(',') },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { drivers: nextDrivers([], known) ?? [] },
  }
}

function isOwned({ metadata }: CsiNode, { name, uid }: CsiNodeOwner): boolean {
  return (metadata.ownerReferences ?? []).some(
    (owner) => owner.kind === 'Node' && owner.name === name && owner.uid === uid,
  )
}

/** The order does not count. */
function isMigratedList(text = ''): boolean {
  const listed = new Set(text.split(','))
  return listed.size === MIGRATED_PLUGINS.length && MIGRATED_PLUGINS.every((plugin) => listed.has(plugin))
}

/** Only the count of an entry may be changed, so one that differs otherwise is removed first and added again in the next step. */
function nextDrivers(before: readonly CsiNodeDriver[], known: KnownDrivers): readonly CsiNodeDriver[] | undefined {
  const replaced = new Set<string>()
  const kept = before.flatMap((entry): readonly CsiNodeDriver[] => {
    const info = known.get(entry.name)
    if (info === undefined) return [entry]
    const wanted = info === 'gone' ? undefined : toEntry(entry.name, info)
    if (wanted === undefined || !isSameDriver(entry, wanted)) {
      replaced.add(entry.name)
      return []
    }
    return isSameCount(entry, wanted) ? [entry] : [wanted]
  })
  const present = new Set(before.map(({ name }) => name))
  const added = [...known].flatMap(([name, info]) =>
    info === 'gone' || present.has(name) ? [] : [toEntry(name, info)],
  )
  const isSame = replaced.size === 0 && added.length === 0 && kept.every((entry, i) => entry === before[i])
  return isSame ? undefined : [...kept, ...added]
}

function toEntry(name: string, { nodeId, maxVolumes, topology }: DriverInfo): CsiNodeDriver {
  const count = Number(maxVolumes > LARGEST_COUNT ? LARGEST_COUNT : maxVolumes)
  const topologyKeys = Object.keys(topology).toSorted()
  return { name, nodeID: nodeId, topologyKeys, ...(count > 0 && { allocatable: { count } }) }
}

function isSameDriver(a: CsiNodeDriver, b: CsiNodeDriver): boolean {
  const [keysA, keysB] = [new Set(a.topologyKeys), new Set(b.topologyKeys)]
  return a.nodeID === b.nodeID && keysA.symmetricDifference(keysB).size === 0
}

function isSameCount(a: CsiNodeDriver, b: CsiNodeDriver): boolean {
  return a.allocatable?.count === b.allocatable?.count
}
