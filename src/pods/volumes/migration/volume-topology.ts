import type { NodeSelectorRequirement, NodeSelectorTerm, PersistentVolume } from '../../../model/generated/core-v1.ts'

const ZONE = 'topology.kubernetes.io/zone'
const REGION = 'topology.kubernetes.io/region'
const OLD_ZONE = 'failure-domain.beta.kubernetes.io/zone'
const OLD_REGION = 'failure-domain.beta.kubernetes.io/region'
/** Between zones in a label: a value of a label can hold no comma. */
const BETWEEN_ZONES = '__'

/** The zones that the labels of a volume name. */
export function labelledZones({ metadata }: PersistentVolume): readonly string[] {
  const { labels = {} } = metadata ?? {}
  return splitZones(labels[OLD_ZONE] || labels[ZONE] || '')
}

/** Where a volume can be used, in the keys of its driver: nodes have those of the driver as labels. */
export function translateZones(volume: PersistentVolume, zoneKey: string): PersistentVolume {
  const found = findKeys(volume)
  const zoned = moveKey(volume, { from: found.zone, to: zoneKey, otherwise: splitZones })
  return found.region === OLD_REGION ? renameKey(zoned, OLD_REGION, REGION) : zoned
}

/** The same for a driver that has a key for regions too; its labels name one zone and one region each. */
export function translateZoneAndRegion(
  volume: PersistentVolume,
  keys: { readonly zone: string; readonly region: string },
): PersistentVolume {
  const found = findKeys(volume)
  const otherwise = (label: string) => [label]
  const zoned = moveKey(volume, { from: found.zone, to: keys.zone, otherwise })
  return moveKey(zoned, { from: found.region, to: keys.region, otherwise })
}

/** Older clusters have written older names; the affinity counts before labels. */
function findKeys(volume: PersistentVolume): { readonly zone: string; readonly region: string } {
  const inAffinity = (key: string) => requirementsOf(volume).some((requirement) => requirement.key === key)
  const inLabels = (key: string) => volume.metadata?.labels?.[key] !== undefined
  const isOld = !inAffinity(ZONE) && (inAffinity(OLD_ZONE) || (!inLabels(ZONE) && inLabels(OLD_ZONE)))
  return isOld ? { zone: OLD_ZONE, region: OLD_REGION } : { zone: ZONE, region: REGION }
}

/** Renames what the affinity says; where it says nothing, what the label says is added. */
function moveKey(
  volume: PersistentVolume,
  move: { readonly from: string; readonly to: string; readonly otherwise: (label: string) => readonly string[] },
): PersistentVolume {
  const { from, to, otherwise } = move
  const isSaid = requirementsOf(volume).some(({ key, values = [] }) => key === from && values.length > 0)
  if (isSaid) return renameKey(volume, from, to)
  const label = volume.metadata?.labels?.[from] ?? ''
  const values = [...new Set(otherwise(label).map((value) => value.trim()))].filter((value) => value !== '').sort()
  if (values.length === 0) return volume
  const added = { key: to, operator: 'In', values }
  const terms = termsOf(volume)
  return withTerms(
    volume,
    (terms.length === 0 ? [{}] : terms).map((term) => ({
      ...term,
      matchExpressions: [...(term.matchExpressions ?? []), added],
    })),
  )
}

function renameKey(volume: PersistentVolume, from: string, to: string): PersistentVolume {
  const rename = (requirement: NodeSelectorRequirement) =>
    requirement.key === from ? { ...requirement, key: to } : requirement
  return withTerms(
    volume,
    termsOf(volume).map((term) =>
      term.matchExpressions === undefined ? term : { ...term, matchExpressions: term.matchExpressions.map(rename) },
    ),
  )
}

function withTerms(volume: PersistentVolume, nodeSelectorTerms: readonly NodeSelectorTerm[]): PersistentVolume {
  if (nodeSelectorTerms.length === 0) return volume
  const nodeAffinity = { required: { ...volume.spec?.nodeAffinity?.required, nodeSelectorTerms } }
  return { ...volume, spec: { ...volume.spec, nodeAffinity } }
}

function termsOf({ spec }: PersistentVolume): readonly NodeSelectorTerm[] {
  return spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
}

function requirementsOf(volume: PersistentVolume): readonly NodeSelectorRequirement[] {
  return termsOf(volume).flatMap(({ matchExpressions = [] }) => matchExpressions)
}

function splitZones(label: string): readonly string[] {
  return label === '' ? [] : label.split(BETWEEN_ZONES)
}
