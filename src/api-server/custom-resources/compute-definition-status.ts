import { sameValue } from '../../base/document/same-value.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '../../model/generated/api-groups.ts'
import type { ObjectOf } from '../store/api-object.ts'

type Definition = ObjectOf<CustomResourceDefinition>
type Condition = CustomResourceDefinitionCondition

/** Keeps a definition until the last of its objects is gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

const ACCEPTED = 'the initial names have been accepted'

/** Whether requests about its objects are answered. */
export function isServed({ status }: Definition): boolean {
  return status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') === true
}

/** The status of a definition: which of its names it has got, beside others of its group, and whether it is served. */
export function computeDefinitionStatus(
  definition: Definition,
  others: readonly Definition[],
  now: string,
): CustomResourceDefinitionStatus {
  const { spec, status } = definition
  const { accepted, conflict } = acceptNames(spec.names, status?.acceptedNames, others)
  const named = condition('NamesAccepted', conflict === undefined ? 'True' : 'False', conflict ?? NO_CONFLICT)
  const wasServed = isServed(definition)
  const established =
    conflict === undefined || wasServed
      ? condition('Established', 'True', { reason: 'InitialNamesAccepted', message: ACCEPTED })
      : condition('Established', 'False', { reason: 'NotAccepted', message: 'not all names are accepted' })
  const policy = approvalOf(definition)
  const conditions = [named, established, ...(policy === undefined ? [] : [policy])].reduce(
    (list, each) => setCondition(list, each, now),
    status?.conditions ?? [],
  )
  const storage = spec.versions.find((each) => each.storage)?.name
  const stored = status?.storedVersions ?? []
  return {
    ...status,
    conditions,
    acceptedNames: accepted,
    storedVersions: storage === undefined || stored.includes(storage) ? stored : [...stored, storage],
  }
}

const NO_CONFLICT = { reason: 'NoConflicts', message: 'no conflicts found' }

/** Names as far as no other definition of the group has them; the others stay as they were. */
function acceptNames(
  wanted: CustomResourceDefinitionNames,
  before: CustomResourceDefinitionNames | undefined,
  others: readonly Definition[],
) {
  const taken = others.map(({ status }) => status?.acceptedNames)
  const words = new Set(
    taken.flatMap((names) => [names?.plural, names?.singular, ...(names?.shortNames ?? [])].filter(Boolean)),
  )
  const kinds = new Set(taken.flatMap((names) => [names?.kind, names?.listKind].filter(Boolean)))
  const conflicts: { reason: string; message: string }[] = []
  const accept = (reason: string, pool: ReadonlySet<string | undefined>, value: string, old: string): string => {
    if (!pool.has(value)) return value
    conflicts.push({ reason, message: `"${value}" is already in use` })
    return old
  }
  const plural = accept('PluralConflict', words, wanted.plural, before?.plural ?? '')
  const singular = accept('SingularConflict', words, wanted.singular ?? '', before?.singular ?? '')
  const usedShort = (wanted.shortNames ?? []).find((name) => words.has(name))
  if (usedShort !== undefined)
    conflicts.push({ reason: 'ShortNamesConflict', message: `"${usedShort}" is already in use` })
  const shortNames = usedShort === undefined ? wanted.shortNames : before?.shortNames
  const kind = accept('KindConflict', kinds, wanted.kind, before?.kind ?? '')
  const listKind = accept('ListKindConflict', kinds, wanted.listKind ?? '', before?.listKind ?? '')
  const { categories } = wanted
  const accepted: CustomResourceDefinitionNames = {
    plural,
    singular,
    ...(shortNames && { shortNames }),
    kind,
    listKind,
    ...(categories && { categories }),
  }
  return { accepted, conflict: conflicts.at(-1) }
}

function condition(
  type: string,
  status: string,
  why: { readonly reason: string; readonly message: string },
): Condition {
  return { type, status, ...why }
}

/** Puts a condition among others; its time only moves when its status does. */
function setCondition(conditions: readonly Condition[], next: Condition, now: string): readonly Condition[] {
  const old = conditions.find(({ type }) => type === next.type)
  const since = old?.status === next.status ? old.lastTransitionTime : now
  const timed: Condition = { ...next, lastTransitionTime: since ?? now }
  if (old === undefined) return [...conditions, timed]
  return sameValue(old, timed) ? conditions : conditions.map((each) => (each === old ? timed : each))
}

/** The condition of definitions in the groups of Kubernetes. */
function approvalOf({ metadata, spec }: Definition): Condition | undefined {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group)) return undefined
  const type = 'KubernetesAPIApprovalPolicyConformant'
  const said = metadata.annotations?.['api-approved.kubernetes.io'] ?? ''
  const name = '"api-approved.kubernetes.io"'
  return said.startsWith('unapproved')
    ? condition(type, 'False', { reason: 'UnapprovedAnnotation', message: `not approved: ${name}: "${said}"` })
    : condition(type, 'True', { reason: 'ApprovedAnnotation', message: `approved in ${said}` })
}

/** A definition as it is while its objects are being deleted. */
export function markTerminating(definition: Definition, now: string): Definition {
  const { metadata, status } = definition
  const conditions = setCondition(
    status?.conditions ?? [],
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    },
    now,
  )
  const { finalizers = [] } = metadata
  return {
    ...definition,
    metadata: { ...metadata, deletionTimestamp: now, finalizers: [...finalizers, CLEANUP_FINALIZER] },
    status: { ...status, conditions },
  }
}
