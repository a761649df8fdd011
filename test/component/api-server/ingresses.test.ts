import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'

const GROUP = '/apis/networking.k8s.io/v1'
const INGRESSES = `${GROUP}/namespaces/default/ingresses`
const ingress = {
  metadata: { name: 'web' },
  spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
}

test('Ingresses that nothing serves are refused, until there is a class of another controller', async () => {
  const why = 'this node has no port for it'
  const switchedOff = new Map([['ingresses.networking.k8s.io', why]])
  await using server = await createTestApi({ folder: makeTemporaryFolder(), switchedOff })
  const { api } = server
  const refused = await call(api, 'POST', INGRESSES, { body: ingress })
  assert.deepEqual([refused.status, refused.body.reason], [403, 'Forbidden'])
  assert.match(refused.body.message, new RegExp(why))
  const create = (name: string, controller: string) =>
    call(api, 'POST', `${GROUP}/ingressclasses`, { body: { metadata: { name }, spec: { controller } } })
  // That of the node itself serves nothing then.
  assert.equal((await create('deckhand', 'deckhand.local/ingress')).status, 201)
  assert.equal((await call(api, 'POST', INGRESSES, { body: ingress })).status, 403)
  assert.equal((await create('nginx', 'k8s.io/ingress-nginx')).status, 201)
  assert.equal((await call(api, 'POST', INGRESSES, { body: ingress })).status, 201)
})

test('of two default classes the newest is filled in, and of those of one second the first by name', async () => {
  await using server = await createTestApi({ folder: makeTemporaryFolder() })
  const { api } = server
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
  for (const name of ['b', 'a'])
    await call(api, 'POST', `${GROUP}/ingressclasses`, {
      body: { metadata: { name, annotations }, spec: { controller: 'a.example/b' } },
    })
  const { body: classes } = await call(api, 'GET', `${GROUP}/ingressclasses`)
  const [first, second] = classes.items.map(({ metadata }: { metadata: { creationTimestamp: string } }) => metadata)
  const expected = first.creationTimestamp >= second.creationTimestamp ? 'a' : 'b'
  const { body } = await call(api, 'POST', INGRESSES, { body: ingress })
  assert.equal(body.spec.ingressClassName, expected)
})
