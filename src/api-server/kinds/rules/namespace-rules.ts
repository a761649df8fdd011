import type { Namespace } from '../../../model/generated/core-v1.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules, Subresource } from '../resource.ts'

type StoredNamespace = ObjectOf<Namespace>

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'

export const namespaceRules: ResourceRules<StoredNamespace> = {
  prepareCreate: (namespace) => ({
    ...labelled(namespace),
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (namespace, before) => ({ ...labelled(namespace), spec: before.spec }),
}

/** Every namespace has its name as a label, for selectors of namespaces. */
function labelled(namespace: StoredNamespace): StoredNamespace {
  const { labels, name = '' } = namespace.metadata
  return { ...namespace, metadata: { ...namespace.metadata, labels: { ...labels, [NAMESPACE_LABEL]: name } } }
}

/** Changes the finalizers of a namespace, which must be gone before it is removed. */
export const finalize: Subresource<StoredNamespace> = {
  name: 'finalize',
  verbs: ['update'],
  merge: ({ spec }, before) => ({ ...before, spec: { ...before.spec, finalizers: spec?.finalizers ?? [] } }),
}
