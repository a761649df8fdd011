import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeNodeImages } from './compute-node-images.ts'

const image = (id: string, size: bigint, repoTags: readonly string[] = [], repoDigests: readonly string[] = []) => ({
  id,
  size,
  repoTags,
  repoDigests,
})

describe('computeNodeImages()', () => {
  const images = [image('a', 1n, ['a:1']), image('b', 3n, ['b:1'], ['b@1']), image('c', 3n, ['c:1']), image('d', 2n)]

  test('the largest first, of equal ones in one order only; digests before tags', () => {
    const all = [
      { names: ['c:1'], sizeBytes: 3 },
      { names: ['b@1', 'b:1'], sizeBytes: 3 },
      { names: [], sizeBytes: 2 },
      { names: ['a:1'], sizeBytes: 1 },
    ]
    assert.deepEqual(computeNodeImages(images, -1), all)
    assert.deepEqual(computeNodeImages(images.toReversed(), -1), all)
    assert.deepEqual(computeNodeImages(images, 2), all.slice(0, 2))
    assert.deepEqual(computeNodeImages(images, 0), [])
  })

  test('at most five names each', () => {
    const [found] = computeNodeImages([image('a', 1n, ['1', '2', '3', '4'], ['5', '6'])], 50)
    assert.deepEqual(found?.names, ['5', '6', '1', '2', '3'])
  })
})
