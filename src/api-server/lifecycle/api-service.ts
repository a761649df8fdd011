import { isIPv6 } from 'node:net'
import type { EndpointSlice } from '../../model/generated/api-groups.ts'
import type { Endpoints, Service } from '../../model/generated/core-v1.ts'
import { API_SERVICE_PORT } from '../../model/networking/api-service-port.ts'
import { findResource } from '../kinds/all-resources.ts'
import { firstAddress } from '../kinds/rules/services/service-range.ts'
import type { ObjectOf } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'
import { ChangeSet } from './change-set.ts'
import type { Change, ChangeInfo } from './change-set.ts'
import { createObject } from './create-object.ts'
import { updateObject } from './update-object.ts'

const API_NAME = 'kubernetes'
const API_LABELS = { component: 'apiserver', provider: 'kubernetes' }
const API_SERVICE = { resource: 'services', namespace: 'default', name: API_NAME } as const

/** Where the API is reached from pods. */
export interface ApiEndpoint {
  readonly address: string
  readonly port: number
}

/** Without the service of the API no pod would find it: one that is deleted is made again at once. */
export function followApiService(changes: ChangeSet, { key, after }: Change): void {
  if (after !== undefined || key.resource !== API_SERVICE.resource) return
  if (key.namespace === API_SERVICE.namespace && key.name === API_SERVICE.name) renewApiService(changes)
}

/** Makes the service of the API where it is missing, or has another address than the first of its range. */
export function renewApiService(changes: ChangeSet): void {
  const service = apiService(changes.info)
  const present = changes.objects.get(API_SERVICE)
  if (present !== undefined && present.spec?.clusterIP !== service.spec?.clusterIP) changes.remove(API_SERVICE)
  const resource = findResource('', 'v1', 'services')
  if (resource !== undefined && changes.get(API_SERVICE) === undefined) createObject(changes, resource, service)
}

/** The service by whose environment variables pods find the API. */
function apiService({ serviceRanges: [range] }: ChangeInfo): ObjectOf<Service> {
  const clusterIP = range === undefined ? 'None' : firstAddress(range)
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: API_NAME, namespace: 'default', labels: API_LABELS },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ports: [{ name: 'https', port: API_SERVICE_PORT, protocol: 'TCP' }],
    },
  }
}

/** Says who listens behind the service of the API; that may have moved since the last start. */
export async function writeApiEndpoint(store: ApiStore, info: ChangeInfo, endpoint: ApiEndpoint): Promise<void> {
  await store.write((transaction) => {
    const changes = new ChangeSet(transaction, info)
    putEndpoints(changes, endpoint)
    putSlice(changes, endpoint)
  })
}

function putEndpoints(changes: ChangeSet, { address, port }: ApiEndpoint): void {
  const resource = findResource('', 'v1', 'endpoints')
  if (resource === undefined) return
  const subsets = [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }]
  const key = { resource: 'endpoints', namespace: 'default', name: API_NAME } as const
  // The slice below is made with it, not from it.
  const labels = { ...API_LABELS, 'endpointslice.kubernetes.io/skip-mirror': 'true' }
  const metadata = { name: API_NAME, namespace: 'default', labels }
  const present = changes.objects.get(key)
  const object: ObjectOf<Endpoints> = {
    kind: 'Endpoints',
    apiVersion: 'v1',
    ...present,
    metadata: { ...present?.metadata, ...metadata },
    subsets,
  }
  if (present === undefined) createObject(changes, resource, object)
  else updateObject(changes, resource, { key, change: () => object })
}

function putSlice(changes: ChangeSet, { address, port }: ApiEndpoint): void {
  const resource = findResource('discovery.k8s.io', 'v1', 'endpointslices')
  if (resource === undefined) return
  const key = { resource: 'endpointslices.discovery.k8s.io', namespace: 'default', name: API_NAME } as const
  const labels = { 'kubernetes.io/service-name': API_NAME }
  const present = changes.objects.get(key)
  const addressType = isIPv6(address) ? 'IPv6' : 'IPv4'
  if (present !== undefined && present.addressType !== addressType) changes.remove(key)
  const object: ObjectOf<EndpointSlice> = {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    ...present,
    metadata: { ...present?.metadata, name: API_NAME, namespace: 'default', labels },
    addressType,
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  }
  if (changes.objects.get(key) === undefined) {
    const { resourceVersion: _, ...metadata } = object.metadata
    createObject(changes, resource, { ...object, metadata })
  } else updateObject(changes, resource, { key, change: () => object })
}
