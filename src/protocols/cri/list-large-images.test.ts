import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CriCallError } from './cri-call-error.ts'
import type { CriCalls } from './cri-calls.ts'
import { listLargeImages } from './list-large-images.ts'

const never = new AbortController().signal
const tooLarge = new CriCallError('listImages', 'ResourceExhausted', 'Received message larger than max')

function setUp({ list, stream }: { readonly list: Error; readonly stream: readonly object[] | Error }) {
  const calls = {
    listImages: async () => {
      throw list
    },
    async *streamImages() {
      if (stream instanceof Error) throw stream
      yield* stream
    },
  }
  return listLargeImages(calls as unknown as CriCalls)
}

describe('listLargeImages()', () => {
  test('reads a list that is too large as a stream', async () => {
    const { listImages } = setUp({ list: tooLarge, stream: [{ images: ['a', 'b'] }, { images: ['c'] }] })
    assert.deepEqual(await listImages({}, never), { images: ['a', 'b', 'c'] })
  })

  test('says what helps where the runtime has no streams', async () => {
    const { listImages } = setUp({
      list: tooLarge,
      stream: new CriCallError('streamImages', 'Unimplemented', 'unknown'),
    })
    await assert.rejects(listImages({}, never), {
      code: 'ResourceExhausted',
      message:
        /^Cannot call "listImages": ResourceExhausted: the list of images is larger than .* Remove unused images/,
    })
  })

  for (const [what, list, stream] of [
    ['a list that fails for another reason', new CriCallError('listImages', 'Unavailable', 'gone'), []],
    ['a stream that breaks', tooLarge, new CriCallError('streamImages', 'Unavailable', 'gone')],
  ] as const) {
    test(`fails with ${what}`, async () => {
      await assert.rejects(setUp({ list, stream }).listImages({}, never), { code: 'Unavailable' })
    })
  }
})
