import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveRoutes, reported } from '../../../test/fakes/serve-routes.ts'
import { createWhyRoute } from './why-route.ts'

test('createWhyRoute() shows all pods, or the one asked for', async (t) => {
  const pods = [
    { namespace: 'default', name: 'a', why: 'x' },
    { namespace: 'shop', name: 'a', why: 'y' },
    { namespace: 'shop', name: 'b', why: 'z' },
  ]
  const get = await serveRoutes(t, [
    createWhyRoute(
      () => pods,
      () => [{ file: '/m/a.yaml' }],
    ),
  ])
  const ask = async (query: string) => {
    const [status, body] = await reported(get(`/why?${query}`))
    return [
      status,
      status === 200 ? (JSON.parse(body) as { pods: { why: string }[] }).pods.map(({ why }) => why).join('') : body,
    ]
  }
  assert.deepEqual(await ask(''), [200, 'xyz'])
  assert.match((await reported(get('/why')))[1], /"manifests":\[\{"file":"\/m\/a\.yaml"\}\]/)
  assert.deepEqual(await ask('pod=a'), [200, 'xy'])
  assert.deepEqual(await ask('pod=shop/a'), [200, 'y'])
  assert.deepEqual(await ask('pod=c'), [404, 'no pod "c" here\n'])
})
