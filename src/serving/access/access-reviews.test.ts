import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countAccess } from '../../../test/fakes/counted-access.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import { AccessReviews } from './access-reviews.ts'

const never = new AbortController().signal

function setUp(allowed: boolean) {
  const asked: KubeRequest[] = []
  const clock = new FakeClock()
  const client = {
    send<T>(request: KubeRequest): Promise<T> {
      asked.push(request)
      return Promise.resolve({ status: { allowed } } as T)
    },
  }
  const { metrics, counted } = countAccess()
  const ttls = { allowedTtlMs: 300_000, deniedTtlMs: 30_000 }
  const deps = { client, metrics, clock, random: () => 0, nodeName: 'node-1', ...ttls }
  return { asked, counted, clock, reviews: new AccessReviews(deps, never) }
}

const caller = { name: 'jane', uid: '1', groups: ['ops'], extra: { k: ['v'] } }
const question = { verb: 'get', subresource: 'log' }

test('AccessReviews asks about one part of the node', async () => {
  const { asked, counted, reviews } = setUp(true)
  assert.equal(await reviews.isAllowed(caller, question, never), true)
  assert.deepEqual(counted, ['authz 201 0'])
  assert.deepEqual(asked, [
    {
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'jane',
          uid: '1',
          groups: ['ops'],
          extra: { k: ['v'] },
          resourceAttributes: { verb: 'get', version: 'v1', resource: 'nodes', subresource: 'log', name: 'node-1' },
        },
      },
    },
  ])
})

test('AccessReviews remembers a yes for long and a no for a short time', async () => {
  for (const [allowed, ms] of [
    [true, 300_000],
    [false, 30_000],
  ] as const) {
    const { asked, clock, reviews } = setUp(allowed)
    const ask = () => reviews.isAllowed(caller, question, never)
    assert.equal(await ask(), allowed)
    await clock.advance(ms - 1)
    assert.equal(await ask(), allowed)
    assert.equal(asked.length, 1)
    await clock.advance(1)
    await ask()
    assert.equal(asked.length, 2)
    await reviews.isAllowed({ ...caller, groups: [] }, question, never)
    await reviews.isAllowed(caller, { ...question, verb: 'create' }, never)
    assert.equal(asked.length, 4)
  }
})

test('AccessReviews does not remember callers that would fill the memory', async () => {
  const { asked, reviews } = setUp(true)
  const large = { name: 'x'.repeat(10_000), groups: [] }
  await reviews.isAllowed(large, question, never)
  await reviews.isAllowed(large, question, never)
  assert.equal(asked.length, 2)
})
