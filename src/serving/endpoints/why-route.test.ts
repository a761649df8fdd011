import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveRoutes, reported } from '../../../test/fakes/serve-routes.ts'
import { createWhyRoute } from './why-route.ts'

test('createWhyRoute() shows all pods, or the one asked for', async (t) => {
  const pods = [
    { uid: '1', namespace: 'default', name: 'a', why: 'x', steps: [1], probes: [2] },
    { uid: '2', namespace: 'shop', name: 'a', why: 'y' },
    { uid: '3', namespace: 'shop', name: 'b', why: 'z' },
  ]
  const get = await serveRoutes(t, [
    createWhyRoute({
      explain: () => pods,
      refusedManifests: () => [{ file: '/m/a.yaml' }],
      unusedFields: () => [{ file: '/m/b.yaml' }],
      placesOf: (uid) => [{ name: 'data', path: `/pods/${uid}` }],
    }),
  ])
  const ask = async (query: string) => {
    const [status, body] = await reported(get(`/why?${query}`))
    return [
      status,
      status === 200 ? (JSON.parse(body) as { pods: { why: string }[] }).pods.map(({ why }) => why).join('') : body,
    ]
  }
  assert.deepEqual(await ask(''), [200, 'xyz'])
  assert.match(
    (await reported(get('/why')))[1],
    /"manifests":\[\{"file":"\/m\/a\.yaml"\}\],"unused":\[\{"file":"\/m\/b\.yaml"\}\]/,
  )
  assert.deepEqual(await ask('pod=a'), [200, 'xy'])
  assert.deepEqual(await ask('pod=shop/a'), [200, 'y'])
  assert.match((await reported(get('/why?pod=shop/b')))[1], /"volumes":\[\{"name":"data","path":"\/pods\/3"\}\]/)
  assert.match((await reported(get('/why')))[1], /"steps":\[1\],"probes":\[2\]\}/)
  assert.doesNotMatch((await reported(get('/why?steps=false')))[1], /steps|probes|volumes/)
  assert.deepEqual(await ask('pod=c'), [404, 'no pod "c" here\n'])
})
