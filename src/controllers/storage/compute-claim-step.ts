import type { StorageClass } from '../../model/generated/api-groups.ts'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../model/generated/core-v1.ts'
import { claimNamesOf } from '../../model/storage/claims-of-pod.ts'
import { findMismatch } from '../../model/storage/compute-volume-binding.ts'
import {
  classNameOf,
  LOCAL_PROVISIONER,
  NO_PROVISIONER,
  SELECTED_NODE,
  waitsForConsumer,
} from '../../model/storage/storage-classes.ts'
import { compareQuantities, tryParseQuantity } from '../../model/resources/quantity.ts'
import type { Live } from '../engine/live-object.ts'
import { findRefusal, isLocal, toVolume } from './local-provisioner.ts'

/** What a claim is judged by. */
export interface ClaimInput {
  readonly claim: Live<PersistentVolumeClaim>
  readonly storageClass: Live<StorageClass> | undefined
  /** The volume that the claim names. */
  readonly volume: PersistentVolume | undefined
  /** All pods of its namespace. */
  readonly pods: readonly Pod[]
  /** The one node there is; undefined before it has registered. */
  readonly node: Node | undefined
  /** Where the folders of volumes are. */
  readonly root: string
}

/** What is to be done for a claim. */
export type ClaimStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'report'; readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }
  /** A pod was put on a node by hand, so no scheduler chooses one. */
  | { readonly kind: 'select'; readonly nodeName: string }
  /** Another provisioner makes the volume. */
  | { readonly kind: 'await'; readonly provisioner: string }
  /** It asked for something that no folder can be. */
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'provision'; readonly volume: PersistentVolume & { readonly metadata: { readonly name: string } } }
  | { readonly kind: 'expand'; readonly volume: Live<PersistentVolume>; readonly size: string }

const NOTHING: ClaimStep = { kind: 'nothing' }

/** The next step for a claim; binding is done by the API itself. */
export function computeClaimStep(input: ClaimInput): ClaimStep {
  const { claim } = input
  if (claim.metadata.deletionTimestamp !== undefined) return NOTHING
  switch (claim.status?.phase) {
    case 'Bound':
      return computeExpansion(input)
    case 'Lost':
      return warn('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
    default:
      return claim.spec.volumeName ? computeNamed(input) : computeUnbound(input)
  }
}

function computeNamed({ claim, volume }: ClaimInput): ClaimStep {
  if (volume === undefined) return NOTHING
  const name = volume.metadata?.name ?? ''
  if (volume.spec?.claimRef !== undefined)
    return warn('FailedBinding', `volume "${name}" already bound to a different claim.`)
  const why = findMismatch(volume, claim)
  return why === undefined ? NOTHING : warn('VolumeMismatch', `Cannot bind to requested volume "${name}": ${why}`)
}

function computeUnbound(input: ClaimInput): ClaimStep {
  const { claim, storageClass, node, root } = input
  const className = classNameOf(claim)
  if (!className) {
    const why = 'no persistent volumes available for this claim and no storage class is set'
    return { kind: 'report', type: 'Normal', reason: 'FailedBinding', message: why }
  }
  if (storageClass === undefined)
    return warn('ProvisioningFailed', `storageclass.storage.k8s.io "${className}" not found`)
  const selected = claim.metadata.annotations?.[SELECTED_NODE]
  if (waitsForConsumer(storageClass) && selected === undefined) return computeWait(input)
  const { provisioner } = storageClass
  if (provisioner === NO_PROVISIONER) return warn('ProvisioningFailed', `no volume plugin matched name: ${provisioner}`)
  if (provisioner !== LOCAL_PROVISIONER) return { kind: 'await', provisioner }
  if (node === undefined || (selected !== undefined && selected !== node.metadata?.name)) return NOTHING
  const message = findRefusal(claim, storageClass, node)
  if (message !== undefined) return { kind: 'refuse', message }
  return { kind: 'provision', volume: toVolume(claim, storageClass, { node, root }) }
}

function computeWait({ claim, pods, node }: ClaimInput): ClaimStep {
  const users = pods.filter(
    (pod) => claimNamesOf(pod).includes(claim.metadata.name) && pod.metadata?.deletionTimestamp === undefined,
  )
  const nodeName = node?.metadata?.name
  if (nodeName !== undefined && users.some(({ spec }) => spec?.nodeName === nodeName))
    return { kind: 'select', nodeName }
  const names = users.filter(({ spec }) => !spec?.nodeName).map(({ metadata }) => metadata?.name ?? '')
  if (names.length === 0) {
    const message = 'waiting for first consumer to be created before binding'
    return { kind: 'report', type: 'Normal', reason: 'WaitForFirstConsumer', message }
  }
  const message = `waiting for ${names.length === 1 ? 'pod' : 'pods'} ${names.join(',')} to be scheduled`
  return { kind: 'report', type: 'Normal', reason: 'WaitForPodScheduled', message }
}

/** A folder has no size of its own, so a larger one is written down and nothing else. */
function computeExpansion({ claim, volume }: ClaimInput): ClaimStep {
  const size = claim.spec.resources?.requests?.['storage'] ?? '0'
  const [asked, has] = [size, claim.status?.capacity?.['storage'] ?? '0'].map((text) => tryParseQuantity(text))
  if (asked === undefined || has === undefined || compareQuantities(asked, has) <= 0) return NOTHING
  if (volume === undefined) return NOTHING
  if (isLocal(volume)) return { kind: 'expand', volume: volume as Live<PersistentVolume>, size }
  const message = 'waiting for an external controller to expand this PVC'
  return { kind: 'report', type: 'Normal', reason: 'ExternalExpanding', message }
}

function warn(reason: string, message: string): ClaimStep {
  return { kind: 'report', type: 'Warning', reason, message }
}
