import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createFolder, startSecuredApi } from './start-secured-api.ts'
import type { SecuredApi } from './start-secured-api.ts'

// Made for the fixture; it seals nothing else.
const KEY = 'b655567f9c9961b542edd6f8a4cbc1560d0f146c574a6f7593197be077f15c66'
const OBJECTS = new URL('../../fixtures/objects-of-0.1.sql', import.meta.url)

/** Puts the objects of an earlier release where the API keeps them. */
function placeObjects(folder: string, layout?: number): void {
  const objects = join(folder, 'objects')
  mkdirSync(objects, { mode: 0o700 })
  writeFileSync(join(objects, 'secrets.key'), Buffer.from(KEY, 'hex'), { mode: 0o600 })
  using database = new DatabaseSync(join(objects, 'objects.db'))
  database.exec(readFileSync(OBJECTS, 'utf8'))
  if (layout !== undefined) database.exec(`PRAGMA user_version = ${layout}`)
}

async function read(api: SecuredApi, path: string): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await api.call(api.admin, 'GET', path)
  assert.equal(status, 200, path)
  return body
}

describe('objects of an earlier release', () => {
  test('are all there, and can be changed', async (t) => {
    const folder = createFolder(t)
    placeObjects(folder)
    const api = await startSecuredApi(t, folder)
    const { data } = await read(api, '/api/v1/namespaces/shop/configmaps/settings')
    assert.deepEqual(data, { color: 'blue' })
    const secret = (await read(api, '/api/v1/namespaces/shop/secrets/password'))['data'] as { readonly key: string }
    assert.equal(Buffer.from(secret.key, 'base64').toString(), 'not so secret')
    const pod = await read(api, '/api/v1/namespaces/shop/pods/web')
    const metadata = pod['metadata'] as Readonly<Record<string, unknown>>
    assert.equal(metadata['uid'], '9c5f6b7f-6f9e-4403-b59d-c44d7b788812')
    assert.equal(metadata['resourceVersion'], '1794901211698')
    assert.deepEqual(metadata['annotations'], { note: 'of an earlier release' })
    assert.equal((pod['status'] as { readonly podIP: string }).podIP, '10.1.2.3')
    const claim = await read(api, '/api/v1/namespaces/shop/persistentvolumeclaims/data')
    assert.equal((claim['status'] as { readonly phase: string }).phase, 'Bound')
    await read(api, '/api/v1/namespaces/shop/serviceaccounts/bot')
    assert.equal((await read(api, '/apis/scheduling.k8s.io/v1/priorityclasses/urgent'))['value'], 1000)
    // What this release adds is there as well.
    await read(api, '/apis/rbac.authorization.k8s.io/v1/clusterroles/view')

    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { size: 'large' } }
    const path = '/api/v1/namespaces/shop/configmaps/settings?fieldManager=upgrade'
    const { status, body } = await api.call({ ...api.admin, headers }, 'PATCH', path, map)
    assert.deepEqual([status, body['data']], [200, { color: 'blue', size: 'large' }])
    const removed = await api.call(api.admin, 'DELETE', '/api/v1/namespaces/shop/pods/web?gracePeriodSeconds=0')
    assert.equal(removed.status, 200)
  })

  test('of a newer one are left alone, with a sentence', async (t) => {
    const folder = createFolder(t)
    placeObjects(folder, 99)
    await assert.rejects(startSecuredApi(t, folder), /it has layout 99, expected at most \d+: a newer release made it/)
    using database = new DatabaseSync(join(folder, 'objects/objects.db'))
    assert.deepEqual({ ...database.prepare('PRAGMA user_version').get() }, { user_version: 99 })
  })
})
