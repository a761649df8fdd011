import type { Pod } from '../../model/generated/core-v1.ts'
import { CONFIG_MIRROR_ANNOTATION } from '../../model/pod/pod.ts'
import { forbidden } from '../api-error.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import { resourceOfStorage } from '../kinds/all-resources.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { sameValue } from '../../base/document/same-value.ts'
import type { ObjectOf } from '../store/api-object.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { ADMIN_GROUP, nodeNameOf } from './user-names.ts'

// The labels below the domains of Kubernetes that a node may give itself.
const OWN_LABELS = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]
const OWN_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const KUBERNETES_DOMAINS = ['kubernetes.io', 'k8s.io']

/** What a change is judged by. */
export interface AdmissionView {
  readonly objects: ObjectReader
}

/** Rejects changes that a node may not make to objects that it may write. Throws an ApiError; users that are no nodes pass. */
export function admitChange(user: RequestUser, change: Change, view: AdmissionView): void {
  const node = nodeNameOf(user)
  if (node === undefined || user.groups.includes(ADMIN_GROUP)) return
  const fault = findFault(node, change, view)
  if (fault === undefined) return
  const resource = resourceOfStorage(change.key.resource)
  const { plural = change.key.resource, group = '' } = resource ?? {}
  throw forbidden({ group, resource: plural, name: change.key.name }, `node "${node}" ${fault}`)
}

function findFault(node: string, change: Change, view: AdmissionView): string | undefined {
  if (change.after === undefined) return undefined
  const { name } = change.key
  if (isChangeOf(change, 'nodes')) return name === node ? findNodeFault(change) : 'may only register itself'
  if (isChangeOf(change, 'leases.coordination.k8s.io') || isChangeOf(change, 'csinodes.storage.k8s.io')) {
    return name === node ? undefined : 'may only use the one of its own name'
  }
  if (isChangeOf(change, 'resourceslices.resource.k8s.io')) {
    return change.after?.spec.nodeName === node ? undefined : 'may only publish devices of its own'
  }
  return isChangeOf(change, 'pods') ? findPodFault(node, change, view) : undefined
}

function findNodeFault({ before: old, after }: Change<'nodes'>): string | undefined {
  if (after === undefined) return undefined
  const label = changedLabels(after.metadata.labels ?? {}, old?.metadata.labels ?? {}).find((name) => !isOwnLabel(name))
  if (label !== undefined) return `may not change the label "${label}"`
  if (!sameValue(after.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
    return 'may not change its owners'
  if (!sameValue(after.spec?.configSource, old?.spec?.configSource))
    return 'may not change the source of its configuration'
  // It may bring taints when it registers, and not rid itself of them later.
  if (old !== undefined && !sameValue(after.spec?.taints ?? [], old.spec?.taints ?? []))
    return 'may not change its taints'
  return undefined
}

type Labels = Readonly<Record<string, string>>

function changedLabels(after: Labels, before: Labels): readonly string[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)])
  return [...names].filter(
    (name) => !Object.hasOwn(after, name) || !Object.hasOwn(before, name) || after[name] !== before[name],
  )
}

function isOwnLabel(label: string): boolean {
  const domain = label.includes('/') ? label.slice(0, label.indexOf('/')) : ''
  if (OWN_LABELS.includes(label) || OWN_DOMAINS.some((own) => isBelow(domain, own))) return true
  // Which includes node-restriction.kubernetes.io, made to be out of the reach of nodes.
  return !KUBERNETES_DOMAINS.some((reserved) => isBelow(domain, reserved))
}

function isBelow(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`)
}

/** A node may only make pods that mirror its static ones, which need nothing of the API unless they may. */
function findMirrorFault(node: string, pod: ObjectOf<Pod>, { objects }: AdmissionView): string | undefined {
  if (pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] === undefined) return 'may only create mirror pods'
  if (pod.spec?.nodeName !== node) return 'may only create pods that are bound to itself'
  const [owner, ...others] = pod.metadata.ownerReferences ?? []
  const uid = objects.get({ resource: 'nodes', namespace: '', name: node })?.metadata.uid
  const isOwn = owner?.apiVersion === 'v1' && owner.kind === 'Node' && owner.name === node && owner.uid === uid
  if (!isOwn || others.length > 0 || owner.controller !== true || owner.blockOwnerDeletion === true) {
    return 'may only create pods with its Node as their one owner and controller'
  }
  return undefined
}

function findPodFault(node: string, { before, after }: Change<'pods'>, view: AdmissionView): string | undefined {
  if (after === undefined) return undefined
  if (before === undefined) return findMirrorFault(node, after, view)
  if (!sameValue(after.metadata.labels ?? {}, before.metadata.labels ?? {})) return 'may not change the labels of a pod'
  if (!sameValue(after.metadata.ownerReferences ?? [], before.metadata.ownerReferences ?? [])) {
    return 'may not change the owners of a pod'
  }
  return sameValue(claimsOf(after), claimsOf(before)) ? undefined : 'may not change the resource claims of a pod'
}

function claimsOf({ status }: Pod): readonly unknown[] {
  return [status?.resourceClaimStatuses ?? [], status?.extendedResourceClaimStatus]
}
