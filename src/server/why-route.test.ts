import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWhyRoute } from './why-route.ts'

test('createWhyRoute() tells of all pods, or of the one asked for', () => {
  const pods = [
    { namespace: 'default', name: 'a', why: 'x' },
    { namespace: 'shop', name: 'a', why: 'y' },
    { namespace: 'shop', name: 'b', why: 'z' },
  ]
  const route = createWhyRoute(() => pods)
  const ask = (query: string) => {
    const { status, body } = route(new URLSearchParams(query))
    return [
      status,
      status === 200 ? (JSON.parse(body) as { pods: { why: string }[] }).pods.map(({ why }) => why).join('') : body,
    ]
  }
  assert.deepEqual(ask(''), [200, 'xyz'])
  assert.deepEqual(ask('pod=a'), [200, 'xy'])
  assert.deepEqual(ask('pod=shop/a'), [200, 'y'])
  assert.deepEqual(ask('pod=c'), [404, 'no pod "c" here\n'])
})
