import type { PersistentVolume, PersistentVolumeClaim } from '../generated/core-v1.ts'
import { matchesLabelSelector } from '../pod/matching/matches-label-selector.ts'
import { compareQuantities, tryParseQuantity } from '../resources/quantity.ts'
import type { Quantity } from '../resources/quantity.ts'
import { classNameOf } from './storage-classes.ts'

const NOTHING: Quantity = { nanos: 0n, format: 'BinarySI' }

/**
 * The volume that a claim gets: the one that either names, else the smallest free one that has all it asks for, of those with the fewest
 * access modes. A claim that waits for its first pod only gets one that either names.
 */
export function computeVolumeBinding<V extends PersistentVolume>(
  claim: PersistentVolumeClaim,
  volumes: readonly V[],
  isDelayed = false,
): V | undefined {
  const free = volumes.filter(
    (volume) => volume.metadata?.deletionTimestamp === undefined && mayBelongTo(volume, claim),
  )
  const wanted = claim.spec?.volumeName
  if (wanted) {
    const named = free.find(({ metadata }) => metadata?.name === wanted)
    const isChosenByBoth = named?.spec?.claimRef !== undefined
    return named !== undefined && (isChosenByBoth || findMismatch(named, claim) === undefined) ? named : undefined
  }
  const reserved = free.find(({ spec }) => spec?.claimRef !== undefined && isLargeEnough(spec.capacity, claim))
  if (reserved !== undefined || isDelayed) return reserved
  return free
    .filter((volume) => volume.spec?.claimRef === undefined && suits(volume, claim))
    .sort(
      (a, b) =>
        (a.spec?.accessModes?.length ?? 0) - (b.spec?.accessModes?.length ?? 0) ||
        compareQuantities(sizeOf(a.spec?.capacity), sizeOf(b.spec?.capacity)),
    )[0]
}

/** A volume that names a claim is for that one alone. */
function mayBelongTo({ spec, status }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = spec?.claimRef
  if (status?.phase === 'Released' || status?.phase === 'Failed') return false
  if (reference === undefined) return true
  const isNamed = reference.name === metadata?.name && reference.namespace === metadata?.namespace
  return isNamed && (!reference.uid || reference.uid === metadata?.uid)
}

/** Why a volume does not suit a claim, in upstream's words. */
export function findMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  const [offer, desired] = [volume.spec, claim.spec]
  if (volume.metadata?.deletionTimestamp !== undefined)
    return `the volume is marked for deletion "${volume.metadata.name}"`
  if (!isLargeEnough(offer?.capacity, claim)) return 'requested PV is too small'
  if ((offer?.storageClassName ?? '') !== (classNameOf(claim) ?? '')) return 'storageClassName does not match'
  if ((offer?.volumeAttributesClassName ?? '') !== (desired?.volumeAttributesClassName ?? ''))
    return 'volumeAttributesClassName does not match'
  if ((offer?.volumeMode ?? 'Filesystem') !== (desired?.volumeMode ?? 'Filesystem')) return 'incompatible volumeMode'
  const hasModes = (desired?.accessModes ?? []).every((mode) => offer?.accessModes?.includes(mode))
  return hasModes ? undefined : 'incompatible accessMode'
}

function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const selector = claim.spec?.selector
  return (
    findMismatch(volume, claim) === undefined &&
    (selector === undefined || matchesLabelSelector(selector, volume.metadata?.labels ?? {}))
  )
}

function isLargeEnough(capacity: Readonly<Record<string, string>> | undefined, claim: PersistentVolumeClaim): boolean {
  return compareQuantities(sizeOf(capacity), sizeOf(claim.spec?.resources?.requests)) >= 0
}

function sizeOf(amounts: Readonly<Record<string, string>> | undefined): Quantity {
  return tryParseQuantity(amounts?.['storage'] ?? '0') ?? NOTHING
}
