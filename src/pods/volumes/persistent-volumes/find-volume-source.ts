import type { Node, PersistentVolume, PersistentVolumeClaim, Volume } from '../../../model/generated/core-v1.ts'
import type { SelectableNode } from '../../../model/pod/matching/matches-node-selector.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { ObjectError } from '../../objects/object-api.ts'
import type { NamespacedName } from '../../objects/object-api.ts'
import type { PodObjects } from '../../objects/pod-objects.ts'
import type { VolumeSource } from '../desired-volume.ts'
import { matchesNodeSelector } from '../../../model/pod/matching/matches-node-selector.ts'
import { translateInlineVolume, translateVolume } from '../migration/translate-volume.ts'
import { mountOptionsOf } from './mount-options.ts'

export interface FindSourceDeps {
  readonly objects: Pick<PodObjects, 'claim' | 'persistentVolume'>
  readonly node: () => Node
}

/** A volume of a pod with what its containers do with it. */
interface UsedVolume {
  readonly volume: Volume
  /** A container has it among its volumeMounts. */
  readonly asFiles: boolean
  /** A container has it among its volumeDevices. */
  readonly asDevice: boolean
}

/** A claim that leads to no volume, or to one that this pod may not use here; its message is what users read. */
class ClaimError extends Error {
  override readonly name = 'ClaimError'
}

const PROTECTION = 'kubernetes.io/pvc-protection'

/** What a volume of a pod really is: itself, or the persistent volume that its claim is bound to. Everything is asked for again. */
export async function findVolumeSource(
  deps: FindSourceDeps,
  { pod, used }: { readonly pod: Pod; readonly used: UsedVolume },
  signal: AbortSignal,
): Promise<VolumeSource> {
  const { volume } = used
  const claimed = claimOf(pod, volume)
  if (claimed === undefined) {
    checkMode(used, 'Filesystem')
    const migrated = translateInlineVolume(volume, pod.metadata.namespace)
    if (migrated === undefined) return { kind: 'inline', volume }
    return { kind: 'persistent', volume: migrated, claim: undefined, isMigrated: true }
  }
  const claim = await inClaim(claimed, () => readClaim(deps, claimed, signal))
  if (volume.ephemeral !== undefined) checkOwner(pod, claimed, claim)
  const found = await inClaim(claimed, () => readVolume(deps, claim, signal))
  // Before anything is checked: what the cluster knows of the node is in the words of the driver.
  const migrated = translateVolume(found)
  const persistent = migrated ?? found
  checkMode(used, persistent.spec?.volumeMode ?? 'Filesystem')
  const problem = findVolumeProblem(persistent, toSelectable(deps.node()))
  if (problem !== undefined) throw new ClaimError(problem)
  return { kind: 'persistent', volume: persistent, claim: claimed, ...(migrated && { isMigrated: true }) }
}

/** Undefined for a volume that is no claim. */
function claimOf({ metadata: { namespace, name } }: Pod, volume: Volume): NamespacedName | undefined {
  if (volume.persistentVolumeClaim !== undefined) return { namespace, name: volume.persistentVolumeClaim.claimName }
  return volume.ephemeral === undefined ? undefined : { namespace, name: `${name}-${volume.name}` }
}

async function inClaim<T>({ namespace, name }: NamespacedName, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ClaimError)) throw error
    throw new ClaimError(`error processing PVC ${namespace}/${name}: ${error.message}`, { cause: error.cause })
  }
}

async function readClaim(
  { objects }: FindSourceDeps,
  key: NamespacedName,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const claim = await fetched('PVC', () => objects.claim(key, signal))
  const { deletionTimestamp, finalizers = [] } = claim.metadata ?? {}
  // With the finalizer it stays as long as pods use it.
  if (deletionTimestamp !== undefined && !finalizers.includes(PROTECTION)) throw new ClaimError('PVC is being deleted')
  if (claim.status?.phase !== 'Bound' || (claim.spec?.volumeName ?? '') === '') throw new ClaimError('PVC is not bound')
  return claim
}

async function readVolume(
  { objects }: FindSourceDeps,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<PersistentVolume> {
  const name = claim.spec?.volumeName ?? ''
  const volume = await fetched(`PV ${name}`, () => objects.persistentVolume(name, signal))
  const { claimRef } = volume.spec ?? {}
  if (claimRef === undefined) {
    throw new ClaimError(
      `found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`,
    )
  }
  if (claimRef.uid !== claim.metadata?.uid) {
    throw new ClaimError(
      `found PV object ${name} but its pv.Spec.ClaimRef.UID ${claimRef.uid ?? ''} does not point to claim.UID ${claim.metadata?.uid ?? ''}`,
    )
  }
  return volume
}

async function fetched<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error
    throw new ClaimError(`failed to fetch ${what} from API server: ${error.message}`, { cause: error })
  }
}

/** A claim of this name may belong to another pod: only one that was made for this pod is its. */
function checkOwner({ metadata }: Pod, { namespace, name }: NamespacedName, claim: PersistentVolumeClaim): void {
  const owner = claim.metadata?.ownerReferences?.find(({ controller }) => controller === true)
  if (owner?.uid === metadata.uid) return
  throw new ClaimError(
    `PVC ${namespace}/${name} was not created for pod ${metadata.namespace}/${metadata.name} (pod is not owner)`,
  )
}

function checkMode({ volume: { name }, asFiles, asDevice }: UsedVolume, mode: string): void {
  if (mode === 'Block' && asFiles)
    throw new ClaimError(`volume ${name} has volumeMode Block, but is specified in volumeMounts`)
  if (mode !== 'Block' && asDevice)
    throw new ClaimError(`volume ${name} has volumeMode ${mode}, but is specified in volumeDevices`)
}

/** Why a persistent volume cannot be used on this node; undefined when it can. */
function findVolumeProblem(volume: PersistentVolume, node: SelectableNode): string | undefined {
  const { nodeAffinity, hostPath, volumeMode } = volume.spec ?? {}
  const name = volume.metadata?.name ?? ''
  if (nodeAffinity?.required !== undefined && !matchesNodeSelector(nodeAffinity.required, node))
    return `MountVolume.NodeAffinity check failed for volume "${name}" : no matching NodeSelectorTerms`
  // Nothing is mounted for a path of the node, or for a bare device.
  const takesOptions = hostPath === undefined || volumeMode === 'Block'
  if (!takesOptions && mountOptionsOf(volume).length > 0)
    return `volume "${name}": mount options are not supported for this volume type`
  return undefined
}

function toSelectable({ metadata }: Node): SelectableNode {
  return { name: metadata?.name ?? '', labels: metadata?.labels ?? {} }
}
