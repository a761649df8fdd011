import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { reported, serveRoutes } from '../../../test/fakes/serve-routes.ts'
import { createImagesRoute } from './images-route.ts'

test('createImagesRoute() shows images with times of day, and does not ask the runtime for every request', async (t) => {
  const clock = new FakeClock(1_000_000)
  let asked = 0
  const image = { id: 'sha256:1', names: ['a:1'], sizeBytes: 5, pinned: false, inUse: true }
  const listImages = () => {
    asked += 1
    return Promise.resolve([{ ...image, firstSeenAt: clock.monotonic() - 3000, lastUsedAt: undefined }])
  }
  const get = await serveRoutes(t, [createImagesRoute({ listImages, clock })])
  const read = async () => JSON.parse((await reported(get('/why/images')))[1]) as unknown
  assert.deepEqual(await read(), { images: [{ ...image, firstSeenAt: clock.now() - 3000 }] })
  await read()
  assert.equal(asked, 1)
  await clock.advance(2000)
  await read()
  assert.equal(asked, 2)
})
