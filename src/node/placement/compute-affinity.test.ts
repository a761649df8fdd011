import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createPlacementPolicy, showAffinity, toHints } from '../../../test/builders/placement-hints.ts'
import { computeAffinity, isAdmitted } from './compute-affinity.ts'
import { computeNumaSets } from './compute-numa-sets.ts'
import type { PlacementAffinity, PlacementHint, PlacementHints } from './hint-provider.ts'
import type { PlacementPolicy } from './placement-policy.ts'

interface Row {
  readonly name: string
  readonly nodes?: number
  /** By provider and resource; null when it does not matter. */
  readonly hints: readonly Readonly<Record<string, string | null>>[]
  readonly bestEffort: string
  /** Undefined when the pod is rejected. */
  readonly single?: string
  readonly closest?: string
}

const provide = (hints: Row['hints']): readonly PlacementHints[] =>
  hints.map(
    (each) => new Map(Object.entries(each).map(([name, text]) => [name, text === null ? undefined : toHints(text)])),
  )

const rows: readonly Row[] = [
  { name: 'no provider', hints: [], bestEffort: '0,1!', single: 'anywhere!' },
  { name: 'no hints', hints: [{}, {}], bestEffort: '0,1!', single: 'anywhere!' },
  { name: 'a resource that does not care', hints: [{ gpu: null }], bestEffort: '0,1!', single: 'anywhere!' },
  { name: 'a resource that no node has', hints: [{ gpu: '' }], bestEffort: '0,1' },
  {
    name: 'a resource that no node has beside one that some node has',
    hints: [{ gpu: '', cpu: '1!' }],
    bestEffort: '1',
  },
  { name: 'one hint list', hints: [{ cpu: '1! 0,1' }], bestEffort: '1!', single: '1!' },
  { name: 'the lower of two that are as good', hints: [{ cpu: '1! 0! 0,1' }], bestEffort: '0!', single: '0!' },
  {
    name: 'two hint lists for the same',
    hints: [{ cpu: '0! 1! 0,1' }, { gpu: '1! 0,1' }],
    bestEffort: '1!',
    single: '1!',
  },
  {
    name: 'two resources of one provider',
    hints: [{ nic: '0! 1! 0,1', gpu: '1! 0,1' }],
    bestEffort: '1!',
    single: '1!',
  },
  { name: 'hints that exclude each other', hints: [{ cpu: '0!' }, { gpu: '1!' }], bestEffort: '0,1' },
  { name: 'hints that overlap', hints: [{ cpu: '0! 0,1' }, { gpu: '1! 0,1' }], bestEffort: '0' },
  { name: 'a hint for both nodes', hints: [{ cpu: '0,1!' }], bestEffort: '0,1!' },
  { name: 'a hint for both beside one for either', hints: [{ cpu: '0,1!' }, { gpu: '0! 1! 0,1' }], bestEffort: '0,1' },
  { name: 'no hint prefers what is left', hints: [{ cpu: '0,1' }], bestEffort: '0,1' },
  {
    name: 'as many nodes as the largest hint list needs',
    nodes: 4,
    hints: [{ cpu: '0 1 0,1 2,3 0,1,2,3' }, { gpu: '2,3 1,2,3' }],
    bestEffort: '2,3',
  },
  {
    name: 'fewer when nothing else is common to all',
    nodes: 4,
    hints: [{ cpu: '0,1,2' }, { gpu: '2,3' }],
    bestEffort: '2',
  },
  {
    name: 'nearest where that is wanted',
    nodes: 4,
    hints: [{ cpu: '1,2! 2,3! 1,2,3' }],
    bestEffort: '1,2!',
    closest: '2,3!',
  },
  { name: 'the only node', nodes: 1, hints: [{ cpu: '0!' }], bestEffort: '0!', single: 'anywhere!' },
  { name: 'a node that is not there', hints: [{ gpu: '5!' }], bestEffort: '0,1' },
]

describe('computeAffinity()', () => {
  for (const { name, nodes = 2, hints, bestEffort, single, closest } of rows) {
    test(name, () => {
      const decide = (kind: PlacementPolicy['kind'], preferClosest = false) => {
        const policy = createPlacementPolicy(kind, nodes, { preferClosest })
        const affinity = computeAffinity(policy, provide(hints))
        return isAdmitted(policy, affinity) ? showAffinity(affinity) : undefined
      }
      assert.deepEqual(
        [decide('best-effort'), decide('restricted'), decide('single-numa-node'), decide('best-effort', true)],
        [bestEffort, bestEffort.endsWith('!') ? bestEffort : undefined, single, closest ?? bestEffort],
      )
    })
  }

  const lists = (nodes: number) =>
    fc.array(
      fc.option(
        fc.array(
          fc.record({
            nodes: fc.constantFrom(...computeNumaSets(Array.from({ length: nodes }, (_, id) => id))),
            preferred: fc.boolean(),
          }),
          { maxLength: 4 },
        ),
        { nil: undefined },
      ),
      { maxLength: 4 },
    )
  const kinds = fc.constantFrom('best-effort', 'restricted', 'single-numa-node')
  const one = (list: readonly (readonly PlacementHint[] | undefined)[]): readonly PlacementHints[] =>
    list.map((hints, index) => new Map([[`r${index}`, hints]]))

  test('is what trying all combinations would give', () => {
    fc.assert(
      fc.property(lists(4), kinds, fc.boolean(), (list, kind, preferClosest) => {
        const policy = createPlacementPolicy(kind, 4, { preferClosest })
        assert.equal(showAffinity(computeAffinity(policy, one(list))), showAffinity(tryAll(policy, list)))
      }),
    )
  })

  test('does not depend on any order', () => {
    fc.assert(
      fc.property(lists(4), kinds, (list, kind) => {
        const policy = createPlacementPolicy(kind, 4)
        const turned = list.toReversed().map((hints) => hints?.toReversed())
        assert.equal(
          showAffinity(computeAffinity(policy, one(turned))),
          showAffinity(computeAffinity(policy, [new Map(list.map((hints, index) => [`r${index}`, hints]))])),
        )
      }),
    )
  })

  test('lies in a hint of each resource, and is preferred only where each prefers just that', () => {
    fc.assert(
      fc.property(lists(4), (list) => {
        const { nodes, preferred } = computeAffinity(createPlacementPolicy('best-effort', 4), one(list))
        const all = nodes ?? new Set()
        const requested = list.filter((hints) => hints !== undefined)
        const fits = (hints: readonly PlacementHint[]) => hints.some((hint) => all.isSubsetOf(hint.nodes))
        if (preferred)
          assert.ok(
            requested.every((hints) =>
              hints.some((hint) => hint.preferred && hint.nodes.symmetricDifference(all).size === 0),
            ),
          )
        else assert.ok(all.size === 4 || requested.every((hints) => hints.length === 0 || fits(hints)))
      }),
    )
  })

  test('ends soon with many nodes and many resources', () => {
    for (const nodes of [8, 16]) {
      const hints = computeNumaSets(Array.from({ length: nodes }, (_, id) => id))
        .filter((set) => set.size > 1)
        .map((set) => ({ nodes: set, preferred: false }))
      const affinity = computeAffinity(
        createPlacementPolicy('restricted', nodes),
        one(Array.from({ length: 5 }, () => hints)),
      )
      assert.equal(showAffinity(affinity), '0,1')
    }
  })
})

/** One hint of each resource, in every combination. */
function tryAll(policy: PlacementPolicy, list: readonly (readonly PlacementHint[] | undefined)[]): PlacementAffinity {
  const all = new Set(policy.nodes.map(({ id }) => id))
  const isSingle = policy.kind === 'single-numa-node'
  type Desired = { readonly nodes: ReadonlySet<number> | undefined; readonly preferred: boolean }
  const requested = list.map((hints): readonly Desired[] => {
    if (hints === undefined) return [{ nodes: undefined, preferred: true }]
    const wanted = hints.length === 0 ? [{ nodes: undefined, preferred: false }] : hints
    return isSingle ? wanted.filter(({ nodes, preferred }) => preferred && (nodes?.size ?? 1) === 1) : wanted
  })
  const combined = requested.reduce<readonly (readonly Desired[])[]>(
    (combinations, hints) => combinations.flatMap((before) => hints.map((hint) => [...before, hint])),
    [[]],
  )
  const candidates = combined.map((hints) => {
    const sets = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [nodes]))
    const nodes = sets.reduce((common, set) => common.intersection(set), all)
    const isSame = sets.every((set) => set.symmetricDifference(sets[0] ?? set).size === 0)
    return { nodes, preferred: isSame && hints.every(({ preferred }) => preferred) }
  })
  const needed = Math.max(
    0,
    ...requested.map((hints) => Math.min(...hints.flatMap(({ nodes }) => nodes?.size ?? []))).filter(Number.isFinite),
  )
  const [best] = candidates.filter(({ nodes }) => nodes.size > 0).sort((a, b) => rank(policy, a, needed, b))
  if (best === undefined) return { nodes: isSingle ? undefined : all, preferred: false }
  return isSingle && best.nodes.size === all.size ? { ...best, nodes: undefined } : best
}

function rank(
  { preferClosest, kind, nodes }: PlacementPolicy,
  a: PlacementAffinity,
  needed: number,
  b: PlacementAffinity,
): number {
  const size = (affinity: PlacementAffinity) => affinity.nodes?.size ?? 0
  const excess = (affinity: PlacementAffinity) => {
    if (affinity.preferred) return size(affinity)
    return size(affinity) > needed ? 100 + size(affinity) : needed - size(affinity)
  }
  const distance = ({ nodes: chosen }: PlacementAffinity) => {
    if (!preferClosest || kind === 'single-numa-node') return 0
    const ids = [...(chosen ?? [])]
    const all = ids.flatMap((from) => ids.map((to) => nodes[from]?.distances.get(to) ?? 0))
    return all.reduce((sum, each) => sum + each, 0) / all.length
  }
  const value = ({ nodes: chosen }: PlacementAffinity) => [...(chosen ?? [])].reduce((sum, id) => sum + 2 ** id, 0)
  return (
    Number(b.preferred) - Number(a.preferred) ||
    excess(a) - excess(b) ||
    distance(a) - distance(b) ||
    value(a) - value(b)
  )
}
