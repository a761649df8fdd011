import { dnsLabel, dnsSubdomain } from '../../model/schema/validation/name-rules.ts'
import type { NameRule } from '../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../store/api-object.ts'
import { limitRangeRules } from '../quota/limit-range-rules.ts'
import { quotaColumns, quotaRules } from '../quota/quota-rules.ts'
import { definitionRules } from '../custom-resources/definition-rules.ts'
import { bindingColumns, nameAndCreated } from '../rbac/role-columns.ts'
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from '../rbac/role-validation.ts'
import { metricsDefinition } from '../metrics/metrics-resources.ts'
import { autoscalerColumns } from './columns/autoscaler-columns.ts'
import { resourceClaimColumns, resourceSliceColumns } from './columns/device-columns.ts'
import { eventColumns } from './columns/event-columns.ts'
import { ingressClassColumns, ingressColumns } from './columns/ingress-columns.ts'
import * as jobColumns from './columns/job-columns.ts'
import { nodeColumns } from './columns/node-columns.ts'
import * as columns from './columns/other-columns.ts'
import { podColumns } from './columns/pod-columns.ts'
import {
  endpointsColumns,
  endpointSliceColumns,
  networkPolicyColumns,
  serviceColumns,
} from './columns/service-columns.ts'
import { persistentVolumeClaimColumns, persistentVolumeColumns, storageClassColumns } from './columns/volume-columns.ts'
import * as workloadColumns from './columns/workload-columns.ts'
import type { Resource, SubresourcePath } from './resource.ts'
import { approval, certificateSigningRequestRules, trustBundleRules } from './rules/certificate-rules.ts'
import { csiNodeRules } from './rules/csi-node-rules.ts'
import { configMapRules, secretRules } from './rules/config-rules.ts'
import * as devices from './rules/device-rules.ts'
import { finalize, namespaceRules } from './rules/namespace-rules.ts'
import { eventConversion, eventFields, eventRules, newEventRules } from './rules/event-rules.ts'
import { ingressClassRules } from './rules/networking/ingress-class-rules.ts'
import { ingressRules } from './rules/networking/ingress-rules.ts'
import { networkPolicyRules } from './rules/networking/network-policy-rules.ts'
import { leaseRules, nodeRules, priorityClassRules, runtimeClassRules } from './rules/node-rules.ts'
import { accountToken, nodeProxy, podStreams } from './rules/passed-subresources.ts'
import { podFields, podRules } from './rules/pods/pod-rules.ts'
import { resize } from './rules/pods/pod-resize.ts'
import { binding, ephemeralContainers, eviction } from './rules/pods/pod-subresources.ts'
import { endpointSliceRules } from './rules/services/endpoint-slice-rules.ts'
import { endpointsRules } from './rules/services/endpoints-rules.ts'
import { serviceRules } from './rules/services/service-rules.ts'
import { storageClassRules } from './rules/storage-class-rules.ts'
import * as volumes from './rules/volume-rules.ts'
import { autoscalerConversion } from './rules/workloads/autoscaler-conversion.ts'
import { autoscalerRules } from './rules/workloads/autoscaler-rules.ts'
import { cronJobRules } from './rules/workloads/cron-job-rules.ts'
import { daemonSetRules } from './rules/workloads/daemon-set-rules.ts'
import { deploymentRules } from './rules/workloads/deployment-rules.ts'
import { disruptionBudgetRules } from './rules/workloads/disruption-budget-rules.ts'
import { jobRules } from './rules/workloads/job-rules.ts'
import { replicaSetRules } from './rules/workloads/replica-set-rules.ts'
import { controllerRevisionRules } from './rules/workloads/revision-rules.ts'
import { scale } from './rules/workloads/scale-subresource.ts'
import { statefulSetRules } from './rules/workloads/stateful-set-rules.ts'
import type { ObjectIn, ObjectNamed } from './stored-types.ts'
import { nameAndAge } from './table-columns.ts'

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** The status, which only the observers of an object write; the object itself is written by its users. */
const status: SubresourcePath = { name: 'status', verbs: ['get', 'patch', 'update'] }

/** A path segment, as events and certificate requests may be called. */
const pathSegment: NameRule = (value) =>
  value.length <= 253 && !/[/%]/.test(value) && value !== '.' && value !== '..' ? undefined : 'must fit into a path'

/** What a row says; the rest is as for most kinds. */
type Definition<T extends ApiObject, S extends ApiObject> = { readonly kind: string } & Partial<
  Omit<Resource<T, S>, 'storage' | 'plural' | 'typeName'>
>

/**
 * One row: where the objects are stored, as "leases.coordination.k8s.io", which gives them their type (stored-types.ts), and what is
 * special about them. The second signature forgets that type again, here and nowhere else: a table of all resources has what they
 * have in common, and the verbs pass to the rules of a resource only objects of that resource.
 */
function define<R extends string, N extends string = string>(
  storage: R,
  definition: Definition<ObjectIn<R>, ObjectNamed<N>> & { readonly typeName?: N },
): Resource
function define(storage: string, definition: Definition<ApiObject, ApiObject>): Resource {
  const [plural = '', ...group] = storage.split('.')
  const { kind } = definition
  return {
    group: group.join('.'),
    version: 'v1',
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    isNamespaced: false,
    verbs: ALL_VERBS,
    typeName: kind,
    hasSchema: true,
    storage,
    nameRule: dnsSubdomain,
    hasGeneration: false,
    countsAnnotations: false,
    createsOnUpdate: false,
    updatesUnconditionally: true,
    answersDeleted: false,
    subresources: [],
    selectableFields: {},
    columns: nameAndAge,
    rules: {},
    ...definition,
  }
}

const core: readonly Resource[] = [
  define('bindings', { kind: 'Binding', isNamespaced: true, verbs: ['create'] }),
  define('configmaps', {
    kind: 'ConfigMap',
    shortNames: ['cm'],
    isNamespaced: true,
    columns: columns.configMapColumns,
    rules: configMapRules,
  }),
  define('endpoints', {
    kind: 'Endpoints',
    shortNames: ['ep'],
    isNamespaced: true,
    createsOnUpdate: true,
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    columns: endpointsColumns,
    rules: endpointsRules,
  }),
  define('events', {
    kind: 'Event',
    shortNames: ['ev'],
    isNamespaced: true,
    nameRule: pathSegment,
    createsOnUpdate: true,
    selectableFields: eventFields,
    columns: eventColumns,
    rules: eventRules,
  }),
  define('limitranges', {
    kind: 'LimitRange',
    shortNames: ['limits'],
    isNamespaced: true,
    columns: nameAndCreated,
    rules: limitRangeRules,
  }),
  define('namespaces', {
    kind: 'Namespace',
    answersDeleted: true,
    shortNames: ['ns'],
    verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
    nameRule: dnsLabel,
    subresources: [finalize, status],
    selectableFields: { 'status.phase': ({ status }) => status?.phase },
    columns: columns.namespaceColumns,
    rules: namespaceRules,
  }),
  define('nodes', {
    kind: 'Node',
    shortNames: ['no'],
    subresources: [nodeProxy, status],
    selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
    columns: nodeColumns,
    rules: nodeRules,
  }),
  define('persistentvolumeclaims', {
    kind: 'PersistentVolumeClaim',
    answersDeleted: true,
    shortNames: ['pvc'],
    isNamespaced: true,
    subresources: [status],
    columns: persistentVolumeClaimColumns,
    rules: volumes.persistentVolumeClaimRules,
  }),
  define('persistentvolumes', {
    kind: 'PersistentVolume',
    answersDeleted: true,
    shortNames: ['pv'],
    subresources: [status],
    columns: persistentVolumeColumns,
    rules: volumes.persistentVolumeRules,
  }),
  define('pods', {
    kind: 'Pod',
    answersDeleted: true,
    shortNames: ['po'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [binding, ephemeralContainers, eviction, ...podStreams, resize, status],
    selectableFields: podFields,
    columns: podColumns,
    rules: podRules,
  }),
  define('resourcequotas', {
    kind: 'ResourceQuota',
    answersDeleted: true,
    shortNames: ['quota'],
    isNamespaced: true,
    subresources: [status],
    columns: quotaColumns,
    rules: quotaRules,
  }),
  define('secrets', {
    kind: 'Secret',
    isNamespaced: true,
    selectableFields: { type: ({ type }) => type },
    columns: columns.secretColumns,
    rules: secretRules,
  }),
  define('serviceaccounts', {
    kind: 'ServiceAccount',
    answersDeleted: true,
    shortNames: ['sa'],
    isNamespaced: true,
    subresources: [accountToken],
    columns: columns.serviceAccountColumns,
  }),
  define('services', {
    kind: 'Service',
    answersDeleted: true,
    shortNames: ['svc'],
    categories: ['all'],
    isNamespaced: true,
    nameRule: dnsLabel,
    createsOnUpdate: true,
    subresources: [status],
    selectableFields: { 'spec.clusterIP': ({ spec }) => spec?.clusterIP, 'spec.type': ({ spec }) => spec?.type },
    columns: serviceColumns,
    rules: serviceRules,
  }),
]

const others: readonly Resource[] = [
  define('customresourcedefinitions.apiextensions.k8s.io', {
    kind: 'CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    hasGeneration: true,
    subresources: [status],
    columns: nameAndCreated,
    rules: definitionRules(() => allResources),
  }),
  define('certificatesigningrequests.certificates.k8s.io', {
    kind: 'CertificateSigningRequest',
    nameRule: pathSegment,
    shortNames: ['csr'],
    subresources: [approval, status],
    selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
    columns: columns.certificateSigningRequestColumns,
    rules: certificateSigningRequestRules,
  }),
  define('clustertrustbundles.certificates.k8s.io', {
    version: 'v1beta1',
    kind: 'ClusterTrustBundle',
    // Those of a signer are called after it, with colons.
    nameRule: pathSegment,
    selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
    rules: trustBundleRules,
  }),
  define('leases.coordination.k8s.io', {
    kind: 'Lease',
    isNamespaced: true,
    createsOnUpdate: true,
    updatesUnconditionally: false,
    columns: columns.leaseColumns,
    rules: leaseRules,
  }),
  define('endpointslices.discovery.k8s.io', {
    kind: 'EndpointSlice',
    isNamespaced: true,
    hasGeneration: true,
    columns: endpointSliceColumns,
    rules: endpointSliceRules,
  }),
  define('events', {
    group: 'events.k8s.io',
    kind: 'Event',
    typeName: 'events.Event',
    shortNames: ['ev'],
    isNamespaced: true,
    convert: eventConversion,
    nameRule: pathSegment,
    createsOnUpdate: true,
    selectableFields: eventFields,
    columns: eventColumns,
    rules: newEventRules,
  }),
  define('runtimeclasses.node.k8s.io', {
    kind: 'RuntimeClass',
    columns: columns.runtimeClassColumns,
    rules: runtimeClassRules,
  }),
  define('deviceclasses.resource.k8s.io', { kind: 'DeviceClass', answersDeleted: true, hasGeneration: true }),
  define('resourceclaims.resource.k8s.io', {
    kind: 'ResourceClaim',
    answersDeleted: true,
    typeName: 'resource.ResourceClaim',
    isNamespaced: true,
    subresources: [status],
    columns: resourceClaimColumns,
    rules: devices.resourceClaimRules,
  }),
  define('resourceclaimtemplates.resource.k8s.io', {
    kind: 'ResourceClaimTemplate',
    answersDeleted: true,
    isNamespaced: true,
    rules: devices.resourceClaimTemplateRules,
  }),
  define('resourceslices.resource.k8s.io', {
    kind: 'ResourceSlice',
    answersDeleted: true,
    hasGeneration: true,
    selectableFields: devices.resourceSliceFields,
    columns: resourceSliceColumns,
    rules: devices.resourceSliceRules,
  }),
  define('priorityclasses.scheduling.k8s.io', {
    kind: 'PriorityClass',
    shortNames: ['pc'],
    columns: columns.priorityClassColumns,
    rules: priorityClassRules,
  }),
  define('csidrivers.storage.k8s.io', {
    kind: 'CSIDriver',
    answersDeleted: true,
    columns: columns.csiDriverColumns,
    rules: volumes.csiDriverRules,
  }),
  define('csinodes.storage.k8s.io', {
    kind: 'CSINode',
    answersDeleted: true,
    columns: columns.csiNodeColumns,
    rules: csiNodeRules,
  }),
  define('storageclasses.storage.k8s.io', {
    kind: 'StorageClass',
    answersDeleted: true,
    shortNames: ['sc'],
    columns: storageClassColumns,
    rules: storageClassRules,
  }),
  define('volumeattachments.storage.k8s.io', {
    kind: 'VolumeAttachment',
    answersDeleted: true,
    subresources: [status],
    columns: columns.volumeAttachmentColumns,
    rules: volumes.volumeAttachmentRules,
  }),
]

/** Who may do what. */
const rights: readonly Resource[] = [
  define('clusterrolebindings.rbac.authorization.k8s.io', {
    kind: 'ClusterRoleBinding',
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: bindingColumns,
    rules: clusterRoleBindingRules,
  }),
  define('clusterroles.rbac.authorization.k8s.io', {
    kind: 'ClusterRole',
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: nameAndCreated,
    rules: clusterRoleRules,
  }),
  define('rolebindings.rbac.authorization.k8s.io', {
    kind: 'RoleBinding',
    isNamespaced: true,
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: bindingColumns,
    rules: roleBindingRules,
  }),
  define('roles.rbac.authorization.k8s.io', {
    kind: 'Role',
    isNamespaced: true,
    nameRule: pathSegment,
    createsOnUpdate: true,
    columns: nameAndCreated,
    rules: roleRules,
  }),
]

/** Kinds that controllers act on (src/controllers); one without a controller is not served. */
const workloads: readonly Resource[] = [
  define('controllerrevisions.apps', {
    kind: 'ControllerRevision',
    isNamespaced: true,
    columns: workloadColumns.controllerRevisionColumns,
    rules: controllerRevisionRules,
  }),
  define('daemonsets.apps', {
    kind: 'DaemonSet',
    shortNames: ['ds'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [status],
    columns: workloadColumns.daemonSetColumns,
    rules: daemonSetRules,
  }),
  define('deployments.apps', {
    kind: 'Deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    countsAnnotations: true,
    subresources: [scale, status],
    columns: workloadColumns.deploymentColumns,
    rules: deploymentRules,
  }),
  define('replicasets.apps', {
    kind: 'ReplicaSet',
    shortNames: ['rs'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [scale, status],
    selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
    columns: workloadColumns.replicaSetColumns,
    rules: replicaSetRules,
  }),
  define('statefulsets.apps', {
    kind: 'StatefulSet',
    shortNames: ['sts'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [scale, status],
    columns: workloadColumns.statefulSetColumns,
    rules: statefulSetRules,
  }),
  define('horizontalpodautoscalers.autoscaling', {
    kind: 'HorizontalPodAutoscaler',
    version: 'v2',
    shortNames: ['hpa'],
    categories: ['all'],
    isNamespaced: true,
    subresources: [status],
    columns: autoscalerColumns,
    rules: autoscalerRules,
  }),
  define('horizontalpodautoscalers.autoscaling', {
    kind: 'HorizontalPodAutoscaler',
    typeName: 'autoscaling.v1.HorizontalPodAutoscaler',
    shortNames: ['hpa'],
    categories: ['all'],
    isNamespaced: true,
    convert: autoscalerConversion,
    subresources: [status],
    columns: autoscalerColumns,
    rules: autoscalerRules,
  }),
  define('ingressclasses.networking.k8s.io', {
    kind: 'IngressClass',
    hasGeneration: true,
    columns: ingressClassColumns,
    rules: ingressClassRules,
  }),
  define('ingresses.networking.k8s.io', {
    kind: 'Ingress',
    shortNames: ['ing'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [status],
    columns: ingressColumns,
    rules: ingressRules,
  }),
  define('networkpolicies.networking.k8s.io', {
    kind: 'NetworkPolicy',
    shortNames: ['netpol'],
    isNamespaced: true,
    hasGeneration: true,
    columns: networkPolicyColumns,
    rules: networkPolicyRules,
  }),
  define('poddisruptionbudgets.policy', {
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [status],
    columns: workloadColumns.disruptionBudgetColumns,
    rules: disruptionBudgetRules,
  }),
  define('cronjobs.batch', {
    kind: 'CronJob',
    shortNames: ['cj'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [status],
    columns: jobColumns.cronJobColumns,
    rules: cronJobRules,
  }),
  define('jobs.batch', {
    kind: 'Job',
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [status],
    selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
    columns: jobColumns.jobColumns,
    rules: jobRules,
  }),
]

/** Kinds that nothing here acts on. `kubectl apply --prune` lists them, so they are known, and none is taken. */
const refused: readonly Resource[] = [
  define('replicationcontrollers', {
    kind: 'ReplicationController',
    shortNames: ['rc'],
    categories: ['all'],
    isNamespaced: true,
    hasSchema: false,
    refusal: 'nothing on this node acts on it; a Deployment or a ReplicaSet does the same',
  }),
]

/** Kinds that are asked and answered, never stored. */
const reviews: readonly Resource[] = [
  define('selfsubjectreviews.authentication.k8s.io', { kind: 'SelfSubjectReview', verbs: ['create'] }),
  define('tokenreviews.authentication.k8s.io', { kind: 'TokenReview', verbs: ['create'] }),
  define('localsubjectaccessreviews.authorization.k8s.io', {
    kind: 'LocalSubjectAccessReview',
    isNamespaced: true,
    verbs: ['create'],
  }),
  define('selfsubjectaccessreviews.authorization.k8s.io', { kind: 'SelfSubjectAccessReview', verbs: ['create'] }),
  define('selfsubjectrulesreviews.authorization.k8s.io', { kind: 'SelfSubjectRulesReview', verbs: ['create'] }),
  define('subjectaccessreviews.authorization.k8s.io', { kind: 'SubjectAccessReview', verbs: ['create'] }),
]

/** Kinds that are measured when a client asks, never stored. */
const metrics: readonly Resource[] = [
  define('nodes.metrics.k8s.io', { kind: 'NodeMetrics', ...metricsDefinition }),
  define('pods.metrics.k8s.io', { kind: 'PodMetrics', isNamespaced: true, ...metricsDefinition }),
]

/** Every resource of the API; reading this file shows all that is served. */
export const allResources: readonly Resource[] = [
  ...core,
  ...reviews,
  ...workloads,
  ...rights,
  ...others,
  ...refused,
  ...metrics,
]

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
