import { dnsLabel } from '../../../model/schema/validation/name-rules.ts'
import { limitRangeRules } from '../../quota/limit-range-rules.ts'
import { quotaColumns, quotaRules } from '../../quota/quota-rules.ts'
import { nameAndCreated } from '../../rbac/role-columns.ts'
import { eventColumns } from '../columns/event-columns.ts'
import { nodeColumns } from '../columns/node-columns.ts'
import * as columns from '../columns/other-columns.ts'
import { podColumns } from '../columns/pod-columns.ts'
import { endpointsColumns, serviceColumns } from '../columns/service-columns.ts'
import { persistentVolumeClaimColumns, persistentVolumeColumns } from '../columns/volume-columns.ts'
import type { Resource } from '../resource.ts'
import { configMapRules, secretRules } from '../rules/config-rules.ts'
import { finalize, namespaceRules } from '../rules/namespace-rules.ts'
import { eventFields, eventRules } from '../rules/event-rules.ts'
import { nodeRules } from '../rules/node-rules.ts'
import { accountToken, nodeProxy, podStreams } from '../rules/passed-subresources.ts'
import { podFields, podRules } from '../rules/pods/pod-rules.ts'
import { resize } from '../rules/pods/pod-resize.ts'
import { binding, ephemeralContainers, eviction } from '../rules/pods/pod-subresources.ts'
import { endpointsRules } from '../rules/services/endpoints-rules.ts'
import { serviceRules } from '../rules/services/service-rules.ts'
import * as volumes from '../rules/volume-rules.ts'
import { ALL_VERBS } from '../verb-lists.ts'
import { defineResource, pathSegment, statusSubresource } from './define-resource.ts'

/** The group without a name. */
export const coreResources: readonly Resource[] = [
  defineResource('bindings', { kind: 'Binding', isNamespaced: true, verbs: ['create'] }),
  defineResource('configmaps', {
    kind: 'ConfigMap',
    shortNames: ['cm'],
    isNamespaced: true,
    columns: columns.configMapColumns,
    rules: configMapRules,
  }),
  defineResource('endpoints', {
    kind: 'Endpoints',
    shortNames: ['ep'],
    isNamespaced: true,
    createsOnUpdate: true,
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    columns: endpointsColumns,
    rules: endpointsRules,
  }),
  defineResource('events', {
    kind: 'Event',
    shortNames: ['ev'],
    isNamespaced: true,
    nameRule: pathSegment,
    createsOnUpdate: true,
    selectableFields: eventFields,
    columns: eventColumns,
    rules: eventRules,
  }),
  defineResource('limitranges', {
    kind: 'LimitRange',
    shortNames: ['limits'],
    isNamespaced: true,
    columns: nameAndCreated,
    rules: limitRangeRules,
  }),
  defineResource('namespaces', {
    kind: 'Namespace',
    answersDeleted: true,
    shortNames: ['ns'],
    verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
    nameRule: dnsLabel,
    subresources: [finalize, statusSubresource],
    selectableFields: { 'status.phase': ({ status }) => status?.phase },
    columns: columns.namespaceColumns,
    rules: namespaceRules,
  }),
  defineResource('nodes', {
    kind: 'Node',
    shortNames: ['no'],
    subresources: [nodeProxy, statusSubresource],
    selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
    columns: nodeColumns,
    rules: nodeRules,
  }),
  defineResource('persistentvolumeclaims', {
    kind: 'PersistentVolumeClaim',
    answersDeleted: true,
    shortNames: ['pvc'],
    isNamespaced: true,
    subresources: [statusSubresource],
    columns: persistentVolumeClaimColumns,
    rules: volumes.persistentVolumeClaimRules,
  }),
  defineResource('persistentvolumes', {
    kind: 'PersistentVolume',
    answersDeleted: true,
    shortNames: ['pv'],
    subresources: [statusSubresource],
    columns: persistentVolumeColumns,
    rules: volumes.persistentVolumeRules,
  }),
  defineResource('pods', {
    kind: 'Pod',
    answersDeleted: true,
    shortNames: ['po'],
    categories: ['all'],
    isNamespaced: true,
    hasGeneration: true,
    subresources: [binding, ephemeralContainers, eviction, ...podStreams, resize, statusSubresource],
    selectableFields: podFields,
    columns: podColumns,
    rules: podRules,
  }),
  defineResource('resourcequotas', {
    kind: 'ResourceQuota',
    answersDeleted: true,
    shortNames: ['quota'],
    isNamespaced: true,
    subresources: [statusSubresource],
    columns: quotaColumns,
    rules: quotaRules,
  }),
  defineResource('secrets', {
    kind: 'Secret',
    isNamespaced: true,
    selectableFields: { type: ({ type }) => type },
    columns: columns.secretColumns,
    rules: secretRules,
  }),
  defineResource('serviceaccounts', {
    kind: 'ServiceAccount',
    answersDeleted: true,
    shortNames: ['sa'],
    isNamespaced: true,
    subresources: [accountToken],
    columns: columns.serviceAccountColumns,
  }),
  defineResource('services', {
    kind: 'Service',
    answersDeleted: true,
    shortNames: ['svc'],
    categories: ['all'],
    isNamespaced: true,
    nameRule: dnsLabel,
    createsOnUpdate: true,
    subresources: [statusSubresource],
    selectableFields: { 'spec.clusterIP': ({ spec }) => spec?.clusterIP, 'spec.type': ({ spec }) => spec?.type },
    columns: serviceColumns,
    rules: serviceRules,
  }),
]
