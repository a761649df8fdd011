import { definitionRules } from '../custom-resources/definition-rules.ts'
import { nameAndCreated } from '../rbac/role-columns.ts'
import { metricsDefinition } from '../resource-metrics/metrics-resources.ts'
import type { Resource } from './resource.ts'
import { coreResources } from './resources/core-resources.ts'
import { defineResource, statusSubresource } from './resources/define-resource.ts'
import { nodeResources } from './resources/node-resources.ts'
import { roleResources } from './resources/role-resources.ts'
import { workloadResources } from './resources/workload-resources.ts'

/** Kinds of users' own. Their rules ask for all resources, so they stand here. */
const definitions: readonly Resource[] = [
  defineResource('customresourcedefinitions.apiextensions.k8s.io', {
    kind: 'CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    hasGeneration: true,
    subresources: [statusSubresource],
    columns: nameAndCreated,
    rules: definitionRules(() => allResources),
  }),
]

/** Kinds that nothing here acts on. `kubectl apply --prune` lists them, so they are known, and none is taken. */
const refused: readonly Resource[] = [
  defineResource('replicationcontrollers', {
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
  defineResource('selfsubjectreviews.authentication.k8s.io', { kind: 'SelfSubjectReview', verbs: ['create'] }),
  defineResource('tokenreviews.authentication.k8s.io', { kind: 'TokenReview', verbs: ['create'] }),
  defineResource('localsubjectaccessreviews.authorization.k8s.io', {
    kind: 'LocalSubjectAccessReview',
    isNamespaced: true,
    verbs: ['create'],
  }),
  defineResource('selfsubjectaccessreviews.authorization.k8s.io', {
    kind: 'SelfSubjectAccessReview',
    verbs: ['create'],
  }),
  defineResource('selfsubjectrulesreviews.authorization.k8s.io', { kind: 'SelfSubjectRulesReview', verbs: ['create'] }),
  defineResource('subjectaccessreviews.authorization.k8s.io', { kind: 'SubjectAccessReview', verbs: ['create'] }),
]

/** Kinds that are measured when a client asks, never stored. */
const metrics: readonly Resource[] = [
  defineResource('nodes.metrics.k8s.io', { kind: 'NodeMetrics', ...metricsDefinition }),
  defineResource('pods.metrics.k8s.io', { kind: 'PodMetrics', isNamespaced: true, ...metricsDefinition }),
]

/** Every resource of the API; this file and those of `resources` show all that is served. */
export const allResources: readonly Resource[] = [
  ...coreResources,
  ...reviews,
  ...workloadResources,
  ...roleResources,
  ...definitions,
  ...nodeResources,
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
