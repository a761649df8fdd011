import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createPlacementPolicy, showAffinity, toHints } from '../../../test/builders/placement-hints.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { createPlacement } from './create-placement.ts'
import type { HintProvider, PlacementAffinity } from './hint-provider.ts'
import type { PlacementPolicy } from './placement-policy.ts'

const POD = createPod({
  metadata: { uid: 'p' },
  spec: {
    initContainers: [createContainer({ name: 'init' })],
    containers: [createContainer({ name: 'a' }), createContainer({ name: 'b' })],
  },
})
const OWN = { cpu: '2', memory: '1Gi' }
const DIVIDED = createPod({
  metadata: { uid: 'p' },
  spec: { ...POD.spec, resources: { requests: OWN, limits: OWN } },
})
const NO_PLACE = {
  reason: 'TopologyAffinityError',
  message: 'Resources cannot be allocated with Topology locality',
}

/** A provider that says what it is asked, with hints by container, and one container that it has nothing for. */
function createProvider(
  name: string,
  asked: string[],
  hints: Readonly<Record<string, string>>,
  without = '',
): HintProvider {
  const answer = (key: string) => new Map(hints[key] === undefined ? [] : [[name, toHints(hints[key])]])
  return {
    hints: (_, container) => answer(container.name),
    podHints: () => answer('pod'),
    allocate(_, container, affinity) {
      asked.push(`${name} ${container.name} ${showAffinity(affinity)}`)
      return container.name === without ? { reason: 'Full', message: name } : undefined
    },
    release: (uid) => void asked.push(`${name} releases ${uid}`),
  }
}

function place(policy: PlacementPolicy | undefined, create: (asked: string[]) => readonly HintProvider[], pod = POD) {
  const asked: string[] = []
  const counted: string[] = []
  const placement = createPlacement({
    policy,
    providers: create(asked),
    metrics: {
      podPlaced: ({ milliseconds, failed }) => void counted.push(`${failed ? 'failed' : 'placed'} ${milliseconds}`),
      placementAligned: (scope, aligned) => void counted.push(`${scope} ${aligned ? 'aligned' : 'not aligned'}`),
    },
    clock: new FakeClock(),
  })
  return { rejection: placement.admit(pod), asked, counted }
}

describe('createPlacement()', () => {
  test('without a policy lets each give from anywhere, container by container', () => {
    const { rejection, asked, counted } = place(undefined, (asked) => [
      createProvider('gpu', asked, { a: '1!' }),
      createProvider('cpu', asked, { a: '0!' }),
    ])
    assert.equal(rejection, undefined)
    assert.deepEqual(asked, [
      'gpu init anywhere',
      'cpu init anywhere',
      'gpu a anywhere',
      'cpu a anywhere',
      'gpu b anywhere',
      'cpu b anywhere',
    ])
    assert.deepEqual(counted, ['placed 0'])
  })

  test('without a policy rejects what one provider does not have, and all take back what they gave; the metric counts policies only', () => {
    const { rejection, asked, counted } = place(undefined, (asked) => [
      createProvider('gpu', asked, {}),
      createProvider('cpu', asked, {}, 'init'),
    ])
    assert.deepEqual(rejection, { reason: 'Full', message: 'cpu' })
    assert.deepEqual(asked, ['gpu init anywhere', 'cpu init anywhere', 'gpu releases p', 'cpu releases p'])
    assert.deepEqual(counted, ['placed 0'])
  })

  test('by container: each has a place of its own', () => {
    const { rejection, asked } = place(createPlacementPolicy('restricted', 2), (asked) => [
      createProvider('gpu', asked, { a: '1! 0,1', b: '0! 0,1' }),
      createProvider('cpu', asked, { init: '0! 1! 0,1', a: '0! 1! 0,1', b: '0! 0,1' }),
    ])
    assert.equal(rejection, undefined)
    assert.deepEqual(asked, ['gpu init 0!', 'cpu init 0!', 'gpu a 1!', 'cpu a 1!', 'gpu b 0!', 'cpu b 0!'])
  })

  test('by container: one without a place is the end of the pod, and nothing of it stays', () => {
    const { rejection, asked, counted } = place(createPlacementPolicy('single-numa-node', 2), (asked) => [
      createProvider('gpu', asked, { a: '1!' }),
      createProvider('cpu', asked, { init: '0!', a: '0!' }),
    ])
    assert.deepEqual(rejection, NO_PLACE)
    assert.deepEqual(asked, ['gpu init 0!', 'cpu init 0!', 'gpu releases p', 'cpu releases p'])
    assert.deepEqual(counted, ['container aligned', 'container not aligned', 'failed 0'])
  })

  test('by pod: all have one place', () => {
    const policy = createPlacementPolicy('single-numa-node', 2, { scope: 'pod' })
    const { rejection, asked, counted } = place(policy, (asked) => [
      createProvider('gpu', asked, { pod: '1!', a: '0!' }),
      createProvider('cpu', asked, { pod: '0! 1! 0,1' }),
    ])
    assert.equal(rejection, undefined)
    assert.deepEqual(new Set(asked.map((line) => line.split(' ')[2])), new Set(['1!']))
    assert.deepEqual(counted, ['pod aligned', 'placed 0'])
  })

  test('by pod: without one place for all nothing is given', () => {
    const policy = createPlacementPolicy('single-numa-node', 2, { scope: 'pod' })
    const { rejection, asked, counted } = place(policy, (asked) => [createProvider('gpu', asked, { pod: '0,1!' })])
    assert.deepEqual(rejection, NO_PLACE)
    assert.deepEqual(asked, ['gpu releases p'])
    assert.deepEqual(counted, ['pod not aligned', 'failed 0'])
  })

  test('admits all with "best-effort", and says why one provider cannot give', () => {
    const policy = createPlacementPolicy('best-effort', 2)
    const { rejection, counted } = place(policy, (asked) => [
      createProvider('gpu', asked, { a: '1!' }),
      createProvider('cpu', asked, { a: '0!' }, 'b'),
    ])
    assert.deepEqual(rejection, { reason: 'Full', message: 'cpu' })
    assert.deepEqual(counted, ['failed 0'])
  })

  test('by pod: one with resources of its own gets them at once from those who can', () => {
    const policy = createPlacementPolicy('restricted', 2, { scope: 'pod', podLevel: true })
    const create = (asked: string[]) => [
      createProvider('gpu', asked, { pod: '1!' }),
      {
        ...createProvider('cpu', asked, { pod: '0! 1! 0,1' }),
        allocatePod: (_: unknown, affinity: PlacementAffinity) => void asked.push(`cpu pod ${showAffinity(affinity)}`),
      },
    ]
    assert.deepEqual(place(policy, create, DIVIDED).asked, ['gpu init 1!', 'gpu a 1!', 'gpu b 1!', 'cpu pod 1!'])
    assert.equal(place(policy, create).asked.includes('cpu pod 1!'), false, 'other pods do not')
    assert.equal(place({ ...policy, podLevel: false }, create, DIVIDED).asked.includes('cpu pod 1!'), false)
    const byContainer = place({ ...policy, scope: 'container' }, create, DIVIDED)
    assert.equal(byContainer.asked.includes('cpu pod 1!'), false)
  })

  for (const [scope, message] of [
    ['pod', 'Pod Scope pod with pod-level resources failed admission under pod-scope topology manager'],
    ['container', 'Pod Scope pod with pod-level resources failed admission with a container-level topology manager'],
  ] as const) {
    test(`by ${scope}: says so when one with resources of its own has no place`, () => {
      const policy = createPlacementPolicy('single-numa-node', 2, { scope, podLevel: true })
      const { rejection } = place(
        policy,
        (asked) => [createProvider('gpu', asked, { pod: '0,1!', init: '0,1!' })],
        DIVIDED,
      )
      assert.deepEqual(rejection, { ...NO_PLACE, message })
    })
  }
})
