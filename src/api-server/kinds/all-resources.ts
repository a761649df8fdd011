import type { Node, Pod } from '../../model/generated/core-v1.ts'
import { dnsLabel, dnsSubdomain } from '../../model/schema/validation/name-rules.ts'
import type { NameRule } from '../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../store/api-object.ts'
import { metricsDefinitions } from '../metrics/metrics-resources.ts'
import { resourceClaimColumns, resourceSliceColumns } from './columns/device-columns.ts'
import { eventColumns } from './columns/event-columns.ts'
import { nodeColumns } from './columns/node-columns.ts'
import * as columns from './columns/other-columns.ts'
import { podColumns } from './columns/pod-columns.ts'
import { endpointsColumns, serviceColumns } from './columns/service-columns.ts'
import { persistentVolumeClaimColumns, persistentVolumeColumns } from './columns/volume-columns.ts'
import type { Resource, Subresource } from './resource.ts'
import { approval, certificateSigningRequestRules, trustBundleRules } from './rules/certificate-rules.ts'
import { csiNodeRules } from './rules/csi-node-rules.ts'
import { configMapRules, secretRules } from './rules/config-rules.ts'
import * as devices from './rules/device-rules.ts'
import { finalize, namespaceRules } from './rules/namespace-rules.ts'
import { eventConversion, eventFields, eventRules } from './rules/event-rules.ts'
import { leaseRules, nodeRules, priorityClassRules, runtimeClassRules } from './rules/node-rules.ts'
import { accountToken, nodeProxy, podStreams } from './rules/passed-subresources.ts'
import { podRules } from './rules/pod-rules.ts'
import { resize } from './rules/pod-resize.ts'
import { binding, ephemeralContainers, eviction } from './rules/pod-subresources.ts'
import { serviceRules } from './rules/service-rules.ts'
import * as volumes from './rules/volume-rules.ts'
import { nameAndAge } from './table-columns.ts'

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** The status, which those who watch over an object write, apart from the rest, which those write who want something of it. */
const status: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] }

/** A path segment, as events and certificate requests may be called. */
const pathSegment: NameRule = (value) =>
  value.length <= 253 && !/[/%]/.test(value) && value !== '.' && value !== '..' ? undefined : 'must fit into a path'

const serviceName: NameRule = (value) =>
  dnsLabel(value) ?? (/^[a-z]/.test(value) ? undefined : 'must begin with a letter')

type Definition = Pick<Resource, 'plural' | 'kind'> & Partial<Resource>

function define(definition: Definition): Resource {
  const group = definition.group ?? ''
  const { plural, kind } = definition
  return {
    group,
    version: 'v1',
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    isNamespaced: false,
    verbs: ALL_VERBS,
    typeName: kind,
    hasSchema: true,
    storage: group === '' ? plural : `${plural}.${group}`,
    nameRule: dnsSubdomain,
    hasGeneration: false,
    createsOnUpdate: false,
    updatesUnconditionally: true,
    subresources: [],
    selectableFields: () => ({}),
    columns: nameAndAge,
    rules: {},
    ...definition,
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function podFields(object: ApiObject): Readonly<Record<string, string>> {
  const { spec, status } = object as unknown as Pod
  return {
    'spec.nodeName': text(spec?.nodeName),
    'spec.restartPolicy': text(spec?.restartPolicy),
    'spec.schedulerName': text(spec?.schedulerName),
    'spec.serviceAccountName': text(spec?.serviceAccountName),
    'spec.hostNetwork': String(spec?.hostNetwork === true),
    'status.phase': text(status?.phase),
    'status.podIP': text(status?.podIPs?.[0]?.ip ?? status?.podIP),
    'status.nominatedNodeName': text(status?.nominatedNodeName),
  }
}

function inside(object: ApiObject, part: string, field: string): string {
  return text((object[part] as Record<string, unknown> | undefined)?.[field])
}

const core: readonly Resource[] = [
  define({ plural: 'bindings', kind: 'Binding', isNamespaced: true, verbs: ['create'] }),
  define({
    plural: 'configmaps',
    kind: 'ConfigMap',
    shortNames: ['cm'],
    isNamespaced: true,
    columns: columns.configMapColumns,
    rules: configMapRules,
  }),
  define({
    plural: 'endpoints',
    kind: 'Endpoints',
    shortNames: ['ep'],
    isNamespaced: true,
    createsOnUpdate: true,
    columns: endpointsColumns,
  }),
  define({
    plural: 'events',
    kind: 'Event',
    shortNames: ['ev'],
    isNamespaced: true,
    nameRule: pathSegment,
    createsOnUpdate: true,
    selectableFields: eventFields,
    columns: eventColumns,
    rules: eventRules,
  }),
  define({
    plural: 'namespaces',
    kind: 'Namespace',
    shortNames: ['ns'],
    verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
    nameRule: dnsLabel,
    subresources: [finalize, status],
    selectableFields: (object) => ({ 'status.phase': inside(object, 'status', 'phase') }),
    columns: columns.namespaceColumns,
    rules: namespaceRules,
  }),
  define({
    plural: 'nodes',
    kind: 'Node',
    shortNames: ['no'],
    subresources: [nodeProxy, status],
    selectableFields: (object) => ({
      'spec.unschedulable': String((object as unknown as Node).spec?.unschedulable === true),
    }),
    columns: nodeColumns,
    rules: nodeRules,
  }),
  define({
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    shortNames: ['pvc'],
    isNamespaced: true,
    subresources: [status],
    columns: persistentVolumeClaimColumns,
    rules: volumes.persistentVolumeClaimRules,
  }),
  define({
    plural: 'persistentvolumes',
    kind: 'PersistentVolume',
    shortNames: ['pv'],
    subresources: [status],
    columns: persistentVolumeColumns,
    rules: volumes.persistentVolumeRules,
  }),
  define({
    plural: 'pods',
    kind: 'Pod',
    shortNames: ['po'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [binding, ephemeralContainers, eviction, ...podStreams, resize, status],
    selectableFields: podFields,
    columns: podColumns,
    rules: podRules,
  }),
  define({
    plural: 'secrets',
    kind: 'Secret',
    isNamespaced: true,
    selectableFields: (object) => ({ type: text(object['type']) }),
    columns: columns.secretColumns,
    rules: secretRules,
  }),
  define({
    plural: 'serviceaccounts',
    kind: 'ServiceAccount',
    shortNames: ['sa'],
    isNamespaced: true,
    subresources: [accountToken],
    columns: columns.serviceAccountColumns,
  }),
  define({
    plural: 'services',
    kind: 'Service',
    shortNames: ['svc'],
    categories: ['all'],
    isNamespaced: true,
    nameRule: serviceName,
    createsOnUpdate: true,
    subresources: [status],
    selectableFields: (object) => ({
      'spec.clusterIP': inside(object, 'spec', 'clusterIP'),
      'spec.type': inside(object, 'spec', 'type'),
    }),
    columns: serviceColumns,
    rules: serviceRules,
  }),
]

const others: readonly Resource[] = [
  define({
    group: 'certificates.k8s.io',
    plural: 'certificatesigningrequests',
    kind: 'CertificateSigningRequest',
    nameRule: pathSegment,
    shortNames: ['csr'],
    subresources: [approval, status],
    selectableFields: (object) => ({ 'spec.signerName': inside(object, 'spec', 'signerName') }),
    columns: columns.certificateSigningRequestColumns,
    rules: certificateSigningRequestRules,
  }),
  define({
    group: 'certificates.k8s.io',
    version: 'v1beta1',
    plural: 'clustertrustbundles',
    kind: 'ClusterTrustBundle',
    // Those of a signer are called after it, with colons.
    nameRule: pathSegment,
    selectableFields: (object) => ({ 'spec.signerName': inside(object, 'spec', 'signerName') }),
    rules: trustBundleRules,
  }),
  define({
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    isNamespaced: true,
    createsOnUpdate: true,
    updatesUnconditionally: false,
    columns: columns.leaseColumns,
    rules: leaseRules,
  }),
  define({
    group: 'events.k8s.io',
    plural: 'events',
    kind: 'Event',
    typeName: 'events.Event',
    shortNames: ['ev'],
    isNamespaced: true,
    storage: 'events',
    convert: eventConversion,
    nameRule: pathSegment,
    createsOnUpdate: true,
    selectableFields: eventFields,
    columns: eventColumns,
    rules: eventRules,
  }),
  define({
    group: 'node.k8s.io',
    plural: 'runtimeclasses',
    kind: 'RuntimeClass',
    columns: columns.runtimeClassColumns,
    rules: runtimeClassRules,
  }),
  define({ group: 'resource.k8s.io', plural: 'deviceclasses', kind: 'DeviceClass', hasGeneration: true }),
  define({
    group: 'resource.k8s.io',
    plural: 'resourceclaims',
    kind: 'ResourceClaim',
    typeName: 'resource.ResourceClaim',
    isNamespaced: true,
    subresources: [status],
    columns: resourceClaimColumns,
    rules: devices.resourceClaimRules,
  }),
  define({
    group: 'resource.k8s.io',
    plural: 'resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    isNamespaced: true,
    rules: devices.resourceClaimTemplateRules,
  }),
  define({
    group: 'resource.k8s.io',
    plural: 'resourceslices',
    kind: 'ResourceSlice',
    hasGeneration: true,
    selectableFields: devices.resourceSliceFields,
    columns: resourceSliceColumns,
    rules: devices.resourceSliceRules,
  }),
  define({
    group: 'scheduling.k8s.io',
    plural: 'priorityclasses',
    kind: 'PriorityClass',
    shortNames: ['pc'],
    columns: columns.priorityClassColumns,
    rules: priorityClassRules,
  }),
  define({
    group: 'storage.k8s.io',
    plural: 'csidrivers',
    kind: 'CSIDriver',
    columns: columns.csiDriverColumns,
    rules: volumes.csiDriverRules,
  }),
  define({
    group: 'storage.k8s.io',
    plural: 'csinodes',
    kind: 'CSINode',
    columns: columns.csiNodeColumns,
    rules: csiNodeRules,
  }),
  define({
    group: 'storage.k8s.io',
    plural: 'volumeattachments',
    kind: 'VolumeAttachment',
    subresources: [status],
    columns: columns.volumeAttachmentColumns,
    rules: volumes.volumeAttachmentRules,
  }),
]

/** Kinds that are asked and answered, never stored. */
const reviews: readonly Resource[] = [
  ['authentication.k8s.io', 'selfsubjectreviews', 'SelfSubjectReview', false] as const,
  ['authentication.k8s.io', 'tokenreviews', 'TokenReview', false] as const,
  ['authorization.k8s.io', 'localsubjectaccessreviews', 'LocalSubjectAccessReview', true] as const,
  ['authorization.k8s.io', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', false] as const,
  ['authorization.k8s.io', 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', false] as const,
  ['authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview', false] as const,
].map(([group, plural, kind, isNamespaced]) => define({ group, plural, kind, isNamespaced, verbs: ['create'] }))

/** Every resource of the API; reading this file shows all that is served. */
export const allResources: readonly Resource[] = [...core, ...reviews, ...others, ...metricsDefinitions.map(define)]

/** What lies encrypted on the disk. */
export const SEALED_RESOURCES: readonly string[] = ['secrets']

const byPath = new Map(
  allResources.map((resource) => [`${resource.group}/${resource.version}/${resource.plural}`, resource]),
)
// Of two groups that share a storage the first one, whose form is stored, stands for it.
const byStorage = new Map(allResources.toReversed().map((resource) => [resource.storage, resource]))

export function findResource(group: string, version: string, plural: string): Resource | undefined {
  return byPath.get(`${group}/${version}/${plural}`)
}

/** The resource whose form is stored under a name. */
export function resourceOfStorage(storage: string): Resource | undefined {
  return byStorage.get(storage)
}
