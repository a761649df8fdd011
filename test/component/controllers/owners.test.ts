import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { call } from '../api-server/api-client.ts'
import { createTestApi } from '../api-server/create-test-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

async function setUp() {
  const server = await createTestApi({ folder: makeTemporaryFolder() })
  const create = async (name: string, owners: readonly object[] = [], finalizers: readonly string[] = []) => {
    const metadata = { name, ownerReferences: owners, finalizers }
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
    const { metadata: made } = (await call(server.api, 'POST', MAPS, { body })).body
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: made.uid as string, blockOwnerDeletion: true }
  }
  const own = (name: string, ownerReferences: readonly object[]) =>
    call(server.api, 'PATCH:merge', `${MAPS}/${name}`, { body: { metadata: { ownerReferences } } })
  const remove = (name: string, propagationPolicy: string) =>
    call(server.api, 'DELETE', `${MAPS}/${name}`, { body: { propagationPolicy } })
  const get = async (name: string) => {
    const { status, body } = await call(server.api, 'GET', `${MAPS}/${name}`)
    return status === 200 ? body.metadata : undefined
  }
  return { server, create, own, remove, get }
}

describe('owners', () => {
  test('an object with one living and one dead owner stays, without the dead one', async () => {
    const { server, create, remove, get } = await setUp()
    await using _ = server
    const [first, second] = [await create('first'), await create('second')]
    await create('child', [first, second])
    await remove('first', 'Background')
    assert.deepEqual((await get('child')).ownerReferences, [second])
    await remove('second', 'Background')
    assert.equal(await get('child'), undefined)
  })

  test('what is created for an owner that is gone goes at once; an unknown kind of owner holds', async () => {
    const { server, create, get } = await setUp()
    await using _ = server
    await create('lost', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'gone' }])
    await create('held', [{ apiVersion: 'example.com/v1', kind: 'Thing', name: 'none', uid: 'unknown' }])
    assert.equal(await get('lost'), undefined)
    assert.ok(await get('held'))
  })

  test('what is let free has no owners left, not even an empty list of them', async () => {
    const { server, create, remove, get } = await setUp()
    await using _ = server
    await create('child', [await create('owner')])
    await remove('owner', 'Orphan')
    assert.equal(Object.hasOwn(await get('child'), 'ownerReferences'), false)
  })

  test('in the foreground those that are owned go first, level by level', async () => {
    const { server, create, remove, get } = await setUp()
    await using _ = server
    const top = await create('top')
    const middle = await create('middle', [top])
    await create('leaf', [middle], ['example.com/wait'])
    await remove('top', 'Foreground')
    assert.deepEqual((await get('top')).finalizers, ['foregroundDeletion'])
    assert.deepEqual((await get('middle')).finalizers, ['foregroundDeletion'])
    await call(server.api, 'PATCH:merge', `${MAPS}/leaf`, { body: { metadata: { finalizers: [] } } })
    for (const name of ['leaf', 'middle', 'top']) assert.equal(await get(name), undefined, name)
  })

  test('a later deletion can say something else about the dependents', async () => {
    const { server, create, remove, get } = await setUp()
    await using _ = server
    await create('child', [await create('top')], ['example.com/wait'])
    await remove('top', 'Foreground')
    await remove('top', 'Orphan')
    assert.equal(await get('top'), undefined)
    assert.deepEqual((await get('child')).ownerReferences ?? [], [])
  })

  for (const names of [
    ['a', 'b'],
    ['a', 'b', 'c'],
  ])
    test(`${names.length} that own each other in a circle do not wait for one another`, async () => {
      const { server, create, own, remove, get } = await setUp()
      await using _ = server
      const made: object[] = []
      for (const name of names) made.push(await create(name, made.slice(-1)))
      await own('a', made.slice(-1))
      const { status } = await remove('a', 'Foreground')
      assert.equal(status, 200)
      for (const name of names) assert.equal(await get(name), undefined, name)
    })

  test('what is in a circle and has a finalizer of its own holds no other', async () => {
    const { server, create, own, remove, get } = await setUp()
    await using _ = server
    const first = await create('a')
    await own('a', [await create('b', [first], ['example.com/wait'])])
    await remove('a', 'Foreground')
    assert.equal(await get('a'), undefined)
    const { finalizers, ownerReferences } = await get('b')
    assert.deepEqual([finalizers, ownerReferences], [['example.com/wait'], [{ ...first, blockOwnerDeletion: false }]])
  })

  test('what owns itself, and blocks that, waits for itself until it no longer does', async () => {
    const { server, create, own, remove, get } = await setUp()
    await using _ = server
    const self = await create('self')
    await own('self', [self])
    await remove('self', 'Foreground')
    assert.deepEqual((await get('self')).finalizers, ['foregroundDeletion'])
    await own('self', [{ ...self, blockOwnerDeletion: false }])
    assert.equal(await get('self'), undefined)
    await own('other', [await create('other')])
    await remove('other', 'Background')
    assert.equal(await get('other'), undefined)
  })
})
