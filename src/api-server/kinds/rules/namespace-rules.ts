import type { Namespace } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { finalizerName } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules, Subresource } from '../resource.ts'

type StoredNamespace = ObjectOf<Namespace>

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'
/** Keeps a namespace until nothing is in it any more. */
export const NAMESPACE_FINALIZER = 'kubernetes'

export const namespaceRules: ResourceRules<StoredNamespace> = {
  fillDefaults: labelled,
  prepareCreate: (namespace) => ({
    ...namespace,
    spec: { finalizers: [...new Set([...(namespace.spec?.finalizers ?? []), NAMESPACE_FINALIZER])] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (namespace, before) => ({ ...labelled(namespace), spec: before.spec }),
  validate: validateFinalizers,
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
  validate: validateFinalizers,
}

function validateFinalizers({ spec }: StoredNamespace): readonly Violation[] {
  const problems = new ProblemList()
  const path = FieldPath.root.child('spec').child('finalizers')
  for (const [index, finalizer] of (spec?.finalizers ?? []).entries())
    problems.matches(path.index(index), finalizer, finalizerName)
  return problems.violations
}
