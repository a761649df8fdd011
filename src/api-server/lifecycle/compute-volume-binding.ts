import type { PersistentVolume, PersistentVolumeClaim } from '../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'
import { compareQuantities, tryParseQuantity } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'

const NOTHING: Quantity = { nanos: 0n, format: 'BinarySI' }

/** The volume that a claim gets: the one that either names, else the smallest free one that has all it asks for. */
export function computeVolumeBinding<V extends PersistentVolume>(
  claim: PersistentVolumeClaim,
  volumes: readonly V[],
): V | undefined {
  const free = volumes.filter(
    (volume) => volume.metadata?.deletionTimestamp === undefined && mayBelongTo(volume, claim),
  )
  const wanted = claim.spec?.volumeName
  if (wanted) return free.find(({ metadata }) => metadata?.name === wanted)
  const reserved = free.find(({ spec }) => spec?.claimRef !== undefined && isLargeEnough(spec.capacity, claim))
  if (reserved !== undefined) return reserved
  return free
    .filter((volume) => volume.spec?.claimRef === undefined && suits(volume, claim))
    .sort((a, b) => compareQuantities(sizeOf(a.spec?.capacity), sizeOf(b.spec?.capacity)))[0]
}

/** A volume that names a claim is for that one alone. */
function mayBelongTo({ spec, status }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = spec?.claimRef
  if (status?.phase === 'Released' || status?.phase === 'Failed') return false
  if (reference === undefined) return true
  const isNamed = reference.name === metadata?.name && reference.namespace === metadata?.namespace
  return isNamed && (!reference.uid || reference.uid === metadata?.uid)
}

function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const [offer, desired] = [volume.spec, claim.spec]
  return (
    (offer?.storageClassName ?? '') === (desired?.storageClassName ?? '') &&
    (offer?.volumeMode ?? 'Filesystem') === (desired?.volumeMode ?? 'Filesystem') &&
    (offer?.volumeAttributesClassName ?? '') === (desired?.volumeAttributesClassName ?? '') &&
    (desired?.accessModes ?? []).every((mode) => offer?.accessModes?.includes(mode)) &&
    isLargeEnough(offer?.capacity, claim) &&
    (desired?.selector === undefined || matchesLabelSelector(desired.selector, volume.metadata?.labels ?? {}))
  )
}

function isLargeEnough(capacity: Readonly<Record<string, string>> | undefined, claim: PersistentVolumeClaim): boolean {
  return compareQuantities(sizeOf(capacity), sizeOf(claim.spec?.resources?.requests)) >= 0
}

function sizeOf(amounts: Readonly<Record<string, string>> | undefined): Quantity {
  return tryParseQuantity(amounts?.['storage'] ?? '0') ?? NOTHING
}
