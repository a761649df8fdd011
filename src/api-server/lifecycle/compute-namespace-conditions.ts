import type { NamespaceCondition } from '../../model/generated/core-v1.ts'
import { toApiTime } from '../../model/text/api-time.ts'

/** What is left of one resource in a namespace that goes. */
export interface Remaining {
  /** As in "configmaps." or "deployments.apps". */
  readonly resource: string
  /** The finalizers of each object. */
  readonly finalizers: readonly (readonly string[])[]
}

/** Nothing here can go wrong in these ways. */
const GOOD: readonly (readonly [type: string, reason: string, message: string])[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
]

/** What a namespace that goes says of what holds it; the same list when nothing changes. */
export function computeNamespaceConditions(
  before: readonly NamespaceCondition[],
  remaining: readonly Remaining[],
  now: number,
): readonly NamespaceCondition[] {
  const content = remaining
    .filter(({ finalizers }) => finalizers.length > 0)
    .map(({ resource, finalizers }) => `${resource} has ${finalizers.length} resource instances`)
  const counts = new Map<string, number>()
  for (const name of remaining.flatMap(({ finalizers }) => finalizers.flat()))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  const held = [...counts].map(([name, count]) => `${name} in ${count} resource instances`)
  const conditions = [
    ...GOOD.map(([type, reason, message]) => ({ type, status: 'False', reason, message })),
    condition('NamespaceContentRemaining', content, {
      some: ['SomeResourcesRemain', 'Some resources are remaining: '],
      none: ['ContentRemoved', 'All content successfully removed'],
    }),
    condition('NamespaceFinalizersRemaining', held, {
      some: ['SomeFinalizersRemain', 'Some content in the namespace has finalizers remaining: '],
      none: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    }),
  ]
  const time = toApiTime(now)
  const made = conditions.map((each) => {
    const present = before.find(({ type }) => type === each.type)
    if (present?.status === each.status && present.reason === each.reason && present.message === each.message)
      return present
    return { ...each, lastTransitionTime: time }
  })
  return made.every((each) => before.includes(each)) ? before : made
}

function condition(
  type: string,
  found: readonly string[],
  texts: { readonly some: readonly [string, string]; readonly none: readonly [string, string] },
) {
  const isSome = found.length > 0
  const [reason, message] = isSome ? texts.some : texts.none
  return { type, status: isSome ? 'True' : 'False', reason, message: `${message}${found.toSorted().join(', ')}` }
}
