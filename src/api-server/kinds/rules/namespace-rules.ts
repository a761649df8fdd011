import type { NamespaceSpec } from '../../../model/generated/core-v1.ts'
import type { ResourceRules, Subresource } from '../resource.ts'

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'

export const namespaceRules: ResourceRules = {
  prepareCreate: (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, [NAMESPACE_LABEL]: object.metadata.name ?? '' },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (object, before) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, [NAMESPACE_LABEL]: object.metadata.name ?? '' },
    },
    spec: before['spec'],
  }),
}

/** Who still has to do something before a namespace may go. */
export const finalize: Subresource = {
  name: 'finalize',
  verbs: ['update'],
  merge: (object, before) => ({
    ...before,
    spec: {
      ...(before['spec'] as object),
      finalizers: (object['spec'] as NamespaceSpec | undefined)?.finalizers ?? [],
    },
  }),
}
