import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { serveRoutes } from '../../../test/fakes/serve-routes.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { createPodsRoute, createRunningPodsRoute } from './pods-routes.ts'

test('createPodsRoute() lists pods with their newest status', async (t) => {
  const pod = createPod()
  let status: { phase: string } | undefined
  const ask = await serveRoutes(t, [createPodsRoute(() => (status === undefined ? [] : [{ pod, status }]))])
  const read = async () => await (await ask('/pods')).json()
  assert.deepEqual(await read(), { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: null })
  const item = JSON.parse(JSON.stringify({ metadata: pod.metadata, spec: pod.spec })) as object
  for (const phase of ['Pending', 'Running']) {
    status = { phase }
    assert.deepEqual(await read(), {
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: [{ ...item, status: { phase } }],
    })
  }
})

test('createPodsRoute() shows integers of 64 bits exactly', async (t) => {
  const pod = createPod({ spec: { terminationGracePeriodSeconds: 9223372036854775807n } })
  const ask = await serveRoutes(t, [createPodsRoute(() => [{ pod, status: { phase: 'Running' } }])])
  assert.match(await (await ask('/pods')).text(), /"terminationGracePeriodSeconds":9223372036854775807\b/)
})

test('createRunningPodsRoute() lists what runs now, with its newest containers', async (t) => {
  const container = (name: string, state: string, id: string) => ({ id, name, state, image: `${name}:1` })
  const observed = [
    {
      uid: 'u1',
      name: 'web',
      namespace: 'default',
      containers: [container('a', 'running', '2'), container('a', 'exited', '1'), container('b', 'exited', '3')],
    },
    { uid: 'u2', name: 'done', namespace: 'default', containers: [container('a', 'exited', '4')] },
  ] as unknown as readonly ObservedPod[]
  const ask = await serveRoutes(t, [createRunningPodsRoute(() => observed)])
  assert.deepEqual(await (await ask('/runningpods/')).json(), {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: [
      {
        metadata: { name: 'web', namespace: 'default', uid: 'u1' },
        spec: { containers: [{ name: 'a', image: 'a:1', resources: {} }] },
        status: {},
      },
    ],
  })
})
