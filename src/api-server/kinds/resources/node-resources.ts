import { resourceClaimColumns, resourceSliceColumns } from '../columns/device-columns.ts'
import { eventColumns } from '../columns/event-columns.ts'
import * as columns from '../columns/other-columns.ts'
import { endpointSliceColumns } from '../columns/service-columns.ts'
import { storageClassColumns } from '../columns/volume-columns.ts'
import type { Resource } from '../resource.ts'
import { approval, certificateSigningRequestRules, trustBundleRules } from '../rules/certificate-rules.ts'
import { csiNodeRules } from '../rules/csi-node-rules.ts'
import * as devices from '../rules/device-rules.ts'
import { eventConversion, eventFields, newEventRules } from '../rules/event-rules.ts'
import { leaseRules, priorityClassRules, runtimeClassRules } from '../rules/node-rules.ts'
import { endpointSliceRules } from '../rules/services/endpoint-slice-rules.ts'
import { storageClassRules } from '../rules/storage-class-rules.ts'
import * as volumes from '../rules/volume-rules.ts'
import { defineResource, pathSegment, statusSubresource } from './define-resource.ts'

/** Kinds that nodes, their plugins and the scheduler work with: certificates, leases, endpoints, events, devices, storage. */
export const nodeResources: readonly Resource[] = [
  defineResource('certificatesigningrequests.certificates.k8s.io', {
    kind: 'CertificateSigningRequest',
    nameRule: pathSegment,
    shortNames: ['csr'],
    subresources: [approval, statusSubresource],
    selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
    columns: columns.certificateSigningRequestColumns,
    rules: certificateSigningRequestRules,
  }),
  defineResource('clustertrustbundles.certificates.k8s.io', {
    version: 'v1beta1',
    kind: 'ClusterTrustBundle',
    // Those of a signer are called after it, with colons.
    nameRule: pathSegment,
    selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
    rules: trustBundleRules,
  }),
  defineResource('leases.coordination.k8s.io', {
    kind: 'Lease',
    isNamespaced: true,
    createsOnUpdate: true,
    updatesUnconditionally: false,
    columns: columns.leaseColumns,
    rules: leaseRules,
  }),
  defineResource('endpointslices.discovery.k8s.io', {
    kind: 'EndpointSlice',
    isNamespaced: true,
    hasGeneration: true,
    columns: endpointSliceColumns,
    rules: endpointSliceRules,
  }),
  defineResource('events', {
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
  defineResource('runtimeclasses.node.k8s.io', {
    kind: 'RuntimeClass',
    columns: columns.runtimeClassColumns,
    rules: runtimeClassRules,
  }),
  defineResource('deviceclasses.resource.k8s.io', { kind: 'DeviceClass', answersDeleted: true, hasGeneration: true }),
  defineResource('resourceclaims.resource.k8s.io', {
    kind: 'ResourceClaim',
    answersDeleted: true,
    typeName: 'resource.ResourceClaim',
    isNamespaced: true,
    subresources: [statusSubresource],
    columns: resourceClaimColumns,
    rules: devices.resourceClaimRules,
  }),
  defineResource('resourceclaimtemplates.resource.k8s.io', {
    kind: 'ResourceClaimTemplate',
    answersDeleted: true,
    isNamespaced: true,
    rules: devices.resourceClaimTemplateRules,
  }),
  defineResource('resourceslices.resource.k8s.io', {
    kind: 'ResourceSlice',
    answersDeleted: true,
    hasGeneration: true,
    selectableFields: devices.resourceSliceFields,
    columns: resourceSliceColumns,
    rules: devices.resourceSliceRules,
  }),
  defineResource('priorityclasses.scheduling.k8s.io', {
    kind: 'PriorityClass',
    shortNames: ['pc'],
    columns: columns.priorityClassColumns,
    rules: priorityClassRules,
  }),
  defineResource('csidrivers.storage.k8s.io', {
    kind: 'CSIDriver',
    answersDeleted: true,
    columns: columns.csiDriverColumns,
    rules: volumes.csiDriverRules,
  }),
  defineResource('csinodes.storage.k8s.io', {
    kind: 'CSINode',
    answersDeleted: true,
    columns: columns.csiNodeColumns,
    rules: csiNodeRules,
  }),
  defineResource('storageclasses.storage.k8s.io', {
    kind: 'StorageClass',
    answersDeleted: true,
    shortNames: ['sc'],
    columns: storageClassColumns,
    rules: storageClassRules,
  }),
  defineResource('volumeattachments.storage.k8s.io', {
    kind: 'VolumeAttachment',
    answersDeleted: true,
    subresources: [statusSubresource],
    columns: columns.volumeAttachmentColumns,
    rules: volumes.volumeAttachmentRules,
  }),
]
