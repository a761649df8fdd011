import type { PriorityClass } from '../../model/generated/api-groups.ts'
import type { Endpoints, Service } from '../../model/generated/core-v1.ts'
import { findResource } from '../kinds/all-resources.ts'
import { SYSTEM_PRIORITIES } from '../kinds/rules/node-rules.ts'
import { firstAddress } from '../kinds/rules/service-range.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'
import { ChangeSet, keyOf } from './change-set.ts'
import type { ChangeInfo } from './change-set.ts'
import { createObject } from './create-object.ts'
import { settleChanges } from './settle-changes.ts'
import { updateObject } from './update-object.ts'

const API_NAME = 'kubernetes'
const API_LABELS = { component: 'apiserver', provider: 'kubernetes' }
const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

/** Where the API is reached from pods. */
export interface ApiEndpoint {
  readonly address: string
  readonly port: number
}

/** Makes what every cluster has from its start, where it is missing. */
export async function createBaseObjects(store: ApiStore, info: ChangeInfo): Promise<void> {
  await store.write((transaction) => {
    const changes = new ChangeSet(transaction, info)
    for (const name of NAMESPACES)
      create(changes, '', 'namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name } })
    for (const [name, value] of Object.entries(SYSTEM_PRIORITIES)) {
      const apiVersion = 'scheduling.k8s.io/v1'
      const object: ObjectOf<PriorityClass> = { kind: 'PriorityClass', apiVersion, metadata: { name }, value }
      create(changes, 'scheduling.k8s.io', 'priorityclasses', object)
    }
    create(changes, '', 'services', apiService(info))
    settleChanges(changes)
  })
}

/** The service by whose environment variables pods find the API. */
function apiService({ serviceRange }: ChangeInfo): ObjectOf<Service> {
  const clusterIP = firstAddress(serviceRange)
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: API_NAME, namespace: 'default', labels: API_LABELS },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
    },
  }
}

/** Says who listens behind the service of the API; that may have moved since the last start. */
export async function writeApiEndpoint(store: ApiStore, info: ChangeInfo, endpoint: ApiEndpoint): Promise<void> {
  await store.write((transaction) => putEndpoints(new ChangeSet(transaction, info), endpoint))
}

function putEndpoints(changes: ChangeSet, { address, port }: ApiEndpoint): void {
  const resource = findResource('', 'v1', 'endpoints')
  if (resource === undefined) return
  const subsets = [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }]
  const key = { resource: 'endpoints', namespace: 'default', name: API_NAME } as const
  const metadata = { name: API_NAME, namespace: 'default', labels: API_LABELS }
  const present = changes.objects.get(key)
  const object: ObjectOf<Endpoints> = { kind: 'Endpoints', apiVersion: 'v1', metadata, ...present, subsets }
  if (present === undefined) createObject(changes, resource, object)
  else updateObject(changes, resource, { key, change: () => object })
}

function create(changes: ChangeSet, group: string, plural: string, object: ApiObject): void {
  const resource = findResource(group, 'v1', plural)
  if (resource === undefined || changes.get(keyOf(resource, object)) !== undefined) return
  createObject(changes, resource, object)
}
