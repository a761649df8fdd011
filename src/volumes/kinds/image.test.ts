import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVolumeWish } from '../../../test/builders/create-volume-wish.ts'
import { createImageKind } from './image.ts'

test('createImageKind() leaves everything to the runtime', async () => {
  const { signal } = new AbortController()
  const kind = createImageKind()
  assert.deepEqual(await kind.setUp(createVolumeWish({ image: { reference: 'registry.test/data:1' } }), signal), {
    kind: 'image',
  })
  await assert.rejects(kind.setUp(createVolumeWish({ emptyDir: {} }), signal), /expected image in the spec/)
  assert.deepEqual([kind.plugin, kind.refreshed, kind.measure], ['kubernetes.io/image', false, undefined])
})
