import type { Pod } from '../../model/generated/core-v1.ts'
import { allow, deny, isIn, isOwnRequest } from './authorization-decision.ts'
import type { AuthorizationDecision, ResourceRule } from './authorization-decision.ts'
import { COLLECTION_VERBS, READ_VERBS } from '../kinds/verb-lists.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { findNeededObjects, volumeNeedsSecret } from './needed-objects.ts'
import type { RequestAttributes } from './request-attributes.ts'

const WRITE = ['update', 'patch']
const LEASES = 'kube-node-lease'
const LEASE_GROUP = 'coordination.k8s.io'
const REQUEST_GROUP = 'certificates.k8s.io'
const DEVICE_GROUP = 'resource.k8s.io'

/** What every node may do, whatever the name. */
export const NODES_RULES: readonly ResourceRule[] = [
  { verbs: READ_VERBS, group: '', resources: ['services'] },
  { verbs: ['get'], group: '', resources: ['endpoints'] },
  { verbs: READ_VERBS, group: 'node.k8s.io', resources: ['runtimeclasses'] },
  { verbs: READ_VERBS, group: 'storage.k8s.io', resources: ['csidrivers'] },
  { verbs: READ_VERBS, group: 'certificates.k8s.io', resources: ['clustertrustbundles'] },
  { verbs: ['create', ...WRITE], group: '', resources: ['events'] },
  { verbs: ['create', ...WRITE], group: 'events.k8s.io', resources: ['events'] },
  // Whose node, pod, lease, slice or request it is that they make is checked when its content is known.
  { verbs: ['create'], group: '', resources: ['nodes', 'pods'] },
  { verbs: ['create'], group: 'storage.k8s.io', resources: ['csinodes'] },
  { verbs: ['create'], group: DEVICE_GROUP, resources: ['resourceslices'] },
  { verbs: ['create'], group: 'certificates.k8s.io', resources: ['certificatesigningrequests'] },
  { verbs: ['create'], group: 'authentication.k8s.io', resources: ['tokenreviews'] },
  {
    verbs: ['create'],
    group: 'authorization.k8s.io',
    resources: ['subjectaccessreviews', 'localsubjectaccessreviews'],
  },
]

/** What a node may do to an object, whether that is its own or needed by a pod that is bound to it, and the reason for a rejection. */
type OwnRule = readonly [
  verbs: readonly string[],
  group: string,
  resource: string,
  owns: (asked: Question) => boolean,
  otherwise: string,
]

interface Question {
  readonly node: string
  readonly namespace: string
  readonly name: string
  readonly userName: string
  readonly fields: Readonly<Record<string, string>>
  readonly objects: ObjectReader
}

const OWN_RULES: readonly OwnRule[] = [
  [[...READ_VERBS, ...WRITE], '', 'nodes', isOwnName, 'a node may only see and change its own Node, by name'],
  [['get', ...WRITE], '', 'nodes/status', isOwnName, 'a node may only see and change its own status'],
  [['get', ...WRITE, 'delete'], 'storage.k8s.io', 'csinodes', isOwnName, 'a node may only use its own CSINode'],
  [['get', ...WRITE, 'delete'], LEASE_GROUP, 'leases', isOwnLease, `a node may only use its own lease in ${LEASES}`],
  // The name is checked when the content is known.
  [
    ['create'],
    LEASE_GROUP,
    'leases',
    ({ namespace }) => namespace === LEASES,
    `a node may only create leases in ${LEASES}`,
  ],
  [
    READ_VERBS,
    '',
    'pods',
    isOwnPod,
    'a node may only see pods on it: by name, or with spec.nodeName in the field selector',
  ],
  [['delete'], '', 'pods', isBoundPod, 'a node may only delete pods that are bound to it'],
  [['get', ...WRITE], '', 'pods/status', isBoundPod, 'a node may only change the status of pods that are bound to it'],
  [['create'], '', 'pods/eviction', isBoundPod, 'a node may only evict pods that are bound to it'],
  [READ_VERBS, '', 'secrets', needsSecret, 'a node may only see secrets that a pod on it needs, by name'],
  [READ_VERBS, '', 'configmaps', needsConfigMap, 'a node may only see config maps that a pod on it needs, by name'],
  [READ_VERBS, '', 'persistentvolumeclaims', needsClaim, 'a node may only see claims that a pod on it needs, by name'],
  [
    ['get', ...WRITE],
    '',
    'persistentvolumeclaims/status',
    needsClaim,
    'a node may only change claims that a pod on it needs',
  ],
  [READ_VERBS, '', 'persistentvolumes', needsVolume, 'a node may only see volumes that a pod on it needs, by name'],
  [
    READ_VERBS,
    'storage.k8s.io',
    'volumeattachments',
    isOwnAttachment,
    'a node may only see its own attachments, by name',
  ],
  [['get'], DEVICE_GROUP, 'resourceclaims', needsDevices, 'a node may only see resource claims of pods on it, by name'],
  [
    ['get', ...WRITE, 'delete'],
    DEVICE_GROUP,
    'resourceslices',
    isOwnSlice,
    'a node may only use resource slices with its own name',
  ],
  [
    COLLECTION_VERBS,
    DEVICE_GROUP,
    'resourceslices',
    ({ fields, node }) => fields['spec.nodeName'] === node,
    'a node may only see resource slices with spec.nodeName in the field selector',
  ],
  [['get'], '', 'serviceaccounts', needsAccount, 'a node may only see service accounts of pods on it'],
  [['create'], '', 'serviceaccounts/token', needsAccount, 'a node may only ask for tokens for pods on it'],
  [
    READ_VERBS,
    REQUEST_GROUP,
    'certificatesigningrequests',
    isOwnCsr,
    'a node may only see its own certificate requests, by name',
  ],
]

/** Whether a node may do something: to what is its own, and to what pods need that are bound to it. */
export function authorizeNode(
  attributes: RequestAttributes,
  node: string,
  objects: ObjectReader,
): AuthorizationDecision {
  if (isIn(NODES_RULES, attributes)) return allow('every node may')
  const rule = OWN_RULES.find(([verbs, group, resource]) => isIn([{ verbs, group, resources: [resource] }], attributes))
  if (rule === undefined) return deny('nodes may not do this')
  const { namespace, name, fields, user } = attributes
  const [, , , owns, otherwise] = rule
  const isOwn = owns({ node, namespace, name, fields, userName: user.name, objects })
  return isOwn ? allow('it belongs to the node') : deny(otherwise)
}

function isOwnName({ node, name }: Question): boolean {
  return name === node
}

function isOwnLease({ namespace, name, node }: Question): boolean {
  return namespace === LEASES && name === node
}

function isOwnAttachment({ objects, name, node }: Question): boolean {
  const resource = 'volumeattachments.storage.k8s.io'
  const spec = name === '' ? undefined : objects.get({ resource, namespace: '', name })?.spec
  return spec?.nodeName === node
}

function isOwnSlice({ objects, name, node }: Question): boolean {
  const resource = 'resourceslices.resource.k8s.io'
  const spec = name === '' ? undefined : objects.get({ resource, namespace: '', name })?.spec
  return spec?.nodeName === node
}

function isOwnCsr({ objects, name, userName }: Question): boolean {
  return isOwnRequest(objects, name, userName)
}

function isOwnPod(asked: Question): boolean {
  return asked.fields['spec.nodeName'] === asked.node || isBoundPod(asked)
}

function isBoundPod({ objects, namespace, name, node }: Question): boolean {
  if (namespace === '' || name === '') return false
  return isBound(objects.get({ resource: 'pods', namespace, name }), node)
}

function isBound(pod: Pod | undefined, node: string): boolean {
  return pod?.spec?.nodeName === node
}

/** Whether a pod of the namespace is bound to the node and passes a test. */
function hasPod({ objects, namespace, name, node }: Question, test: (pod: Pod) => boolean): boolean {
  if (namespace === '' || name === '') return false
  return objects.list('pods', namespace).some((pod) => isBound(pod, node) && test(pod))
}

function needsConfigMap(asked: Question): boolean {
  return hasPod(asked, (pod) => findNeededObjects(pod).configMaps.has(asked.name))
}

function needsClaim(asked: Question): boolean {
  return hasPod(asked, (pod) => findNeededObjects(pod).claims.has(asked.name))
}

function needsDevices(asked: Question): boolean {
  return hasPod(asked, (pod) => findNeededObjects(pod).resourceClaims.has(asked.name))
}

function needsAccount(asked: Question): boolean {
  return hasPod(asked, ({ spec }) => spec?.serviceAccountName === asked.name)
}

/** A volume belongs to the claim that it names, if that claim names it too. */
function needsVolume(asked: Question): boolean {
  const { objects, name } = asked
  if (name === '') return false
  const volume = objects.get({ resource: 'persistentvolumes', namespace: '', name })
  const { namespace = '', name: claimName = '' } = volume?.spec?.claimRef ?? {}
  if (namespace === '' || claimName === '') return false
  const claim = objects.get({ resource: 'persistentvolumeclaims', namespace, name: claimName })
  return claim?.spec?.volumeName === name && needsClaim({ ...asked, namespace, name: claimName })
}

function needsSecret(asked: Question): boolean {
  if (hasPod(asked, (pod) => findNeededObjects(pod).secrets.has(asked.name))) return true
  const { objects, namespace, name } = asked
  if (namespace === '' || name === '') return false
  return objects
    .list('persistentvolumes')
    .some(
      (volume) =>
        volumeNeedsSecret(volume, namespace, name) && needsVolume({ ...asked, name: volume.metadata.name ?? '' }),
    )
}
