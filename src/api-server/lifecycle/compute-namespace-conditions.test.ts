import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeNamespaceConditions } from './compute-namespace-conditions.ts'

const now = Date.UTC(2026, 0, 2)
const summary = (conditions: ReturnType<typeof computeNamespaceConditions>) =>
  conditions
    .filter(({ type }) => type.endsWith('Remaining'))
    .map(({ status, reason, message }) => [status, reason, message])

for (const [name, remaining, expected] of [
  [
    'nothing is left',
    [],
    [
      ['False', 'ContentRemoved', 'All content successfully removed'],
      ['False', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    ],
  ],
  [
    'some is left, some of it is held',
    [
      { resource: 'pods.', finalizers: [[], []] },
      { resource: 'configmaps.', finalizers: [['example.com/a', 'example.com/b'], ['example.com/a']] },
      { resource: 'secrets.', finalizers: [] },
    ],
    [
      [
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 2 resource instances, pods. has 2 resource instances',
      ],
      [
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances, example.com/b in 1 resource instances',
      ],
    ],
  ],
] as const) {
  test(name, () => {
    const conditions = computeNamespaceConditions([], remaining, now)
    assert.equal(conditions.length, 5)
    assert.deepEqual(summary(conditions), expected)
  })
}

test('what says the same keeps its time, and the list when nothing changes', () => {
  const first = computeNamespaceConditions([], [{ resource: 'pods.', finalizers: [[]] }], now)
  assert.equal(computeNamespaceConditions(first, [{ resource: 'pods.', finalizers: [[]] }], now + 60_000), first)
  const later = computeNamespaceConditions(first, [], now + 60_000)
  const times = later.map(({ lastTransitionTime }) => lastTransitionTime === first[0]?.lastTransitionTime)
  assert.deepEqual(times, [true, true, true, false, true])
})
