import type { ObjectMeta } from '../../model/generated/core-v1.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { finalizerName } from '../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../model/schema/validation/problem-list.ts'
import { validateAnnotations, validateLabels } from '../../model/schema/validation/validate-metadata.ts'
import { invalid } from '../api-error.ts'
import type { Resource } from '../kinds/resource.ts'
import type { ApiObject } from '../store/api-object.ts'

const META = FieldPath.root.child('metadata')

/** Throws an Invalid status with everything that is wrong. */
export function failIfInvalid(resource: Resource, object: ApiObject, violations: readonly Violation[]): void {
  const seen = new Set<string>()
  const distinct = violations.filter(({ path, rule }) => {
    const text = `${path.toString()}: ${rule}`
    return !seen.has(text) && seen.add(text)
  })
  if (distinct.length === 0) return
  const name = object.metadata.name ?? object.metadata.generateName ?? ''
  // The form that is stored is what was read; events of the newer group are stored as the core's.
  const group = object.apiVersion === 'v1' ? '' : resource.group
  throw invalid({ group, kind: resource.kind, name }, distinct)
}

/** The rules that hold for every object. */
export function validateObjectMeta(resource: Resource, meta: ObjectMeta): readonly Violation[] {
  const problems = new ProblemList()
  if (!meta.name) problems.required(META.child('name'), 'name or generateName is required')
  else problems.matches(META.child('name'), meta.name, resource.nameRule)
  validateLabels(meta.labels ?? {}, META.child('labels'), problems)
  validateAnnotations(meta.annotations ?? {}, META.child('annotations'), problems)
  for (const [index, finalizer] of (meta.finalizers ?? []).entries()) {
    problems.matches(META.child('finalizers').index(index), finalizer, finalizerName)
  }
  for (const [index, owner] of (meta.ownerReferences ?? []).entries()) {
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (!owner[field]) problems.required(META.child('ownerReferences').index(index).child(field))
    }
    if (owner.kind === 'Event' && ['v1', 'events.k8s.io/v1'].includes(owner.apiVersion)) {
      problems.invalid(META.child('ownerReferences').index(index), owner.kind, 'an event owns nothing')
    }
  }
  if ((meta.ownerReferences ?? []).filter(({ controller }) => controller === true).length > 1) {
    problems.invalid(META.child('ownerReferences'), 'controller', 'only one owner can be the controller')
  }
  return problems.violations
}

/** The beginning of a name that the server makes up; it may end as no name may. */
export function validateGeneratedName({ nameRule }: Resource, { generateName }: ObjectMeta): readonly Violation[] {
  if (!generateName) return []
  const problems = new ProblemList()
  problems.matches(META.child('generateName'), generateName.replace(/-$/, 'a'), nameRule)
  return problems.violations
}

/** An object that is being deleted takes no new finalizers: they would keep it for ever. */
export function validateFinalizers(object: ApiObject, before: ApiObject): readonly Violation[] {
  if (before.metadata.deletionTimestamp === undefined) return []
  const problems = new ProblemList()
  const old = before.metadata.finalizers ?? []
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !old.includes(finalizer))
  if (added.length > 0) {
    problems.forbidden(
      META.child('finalizers'),
      `the object is being deleted, so none can be added: ${added.join(', ')}`,
    )
  }
  return problems.violations
}
