import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findAskers, findRuntimeImage, findTag, toSavedName } from './find-runtime-image.ts'
import { formatDecimalBytes, formatImages } from './format-images.ts'
import type { RuntimeImage } from './runtime-image-calls.ts'

const [first, second] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`) as [string, string]
const image = (id: string, repoTags: readonly string[], repoDigests: readonly string[] = []): RuntimeImage => ({
  id,
  repoTags,
  repoDigests,
  size: 2_100_000n,
})
const web = image(first, ['docker.io/library/web:1', 'r.test/web:2'])
const bare = image(second, [], [`r.test/db@${first}`])

describe('findRuntimeImage()', () => {
  const rows: [name: string, found: RuntimeImage | RegExp][] = [
    ['web:1', web],
    ['docker.io/library/web:1', web],
    ['r.test/web:2', web],
    [first, web],
    ['aaaaaa', web],
    [`r.test/db@${first}`, bare],
    ['bbbbbbbbbbbb', bare],
    ['web', /Cannot find "web": there is no such image; "deckhand images ls" lists all/],
    ['Web Site', /Cannot use "Web Site" as an image: invalid reference format/],
  ]
  for (const [name, found] of rows) {
    test(name, () => {
      const find = () => findRuntimeImage([web, bare], name)
      if (found instanceof RegExp) assert.throws(find, found)
      else assert.equal(find(), found)
    })
  }

  test('does not guess between two IDs', () => {
    const twin = image(`sha256:${'a'.repeat(63)}b`, ['r.test/twin:1'])
    assert.throws(() => findRuntimeImage([web, twin], 'aaaaaa'), /several images have an ID that begins like this/)
  })
})

test('findTag() and toSavedName() take the name that is meant', () => {
  assert.equal(findTag(web, 'web:1'), 'docker.io/library/web:1')
  assert.equal(findTag(web, first), undefined)
  assert.equal(toSavedName(web, 'r.test/web:2'), 'r.test/web:2')
  assert.equal(toSavedName(web, 'web:1'), 'docker.io/library/web:1')
  assert.equal(toSavedName(web, first), 'docker.io/library/web:1')
  assert.equal(toSavedName(bare, second), `r.test/db@${first}`)
})

test('findAskers() finds the pods that name a tag in any form', () => {
  const pod = (name: string, spec: object) => ({
    metadata: { namespace: 'default', name },
    spec: { containers: [], ...spec },
  })
  const pods = [
    pod('short', { containers: [{ name: 'c', image: 'web:1' }] }),
    pod('init', { initContainers: [{ name: 'c', image: 'docker.io/library/web:1' }] }),
    pod('other', { containers: [{ name: 'c', image: 'r.test/web:2' }] }),
  ]
  assert.deepEqual(findAskers('docker.io/library/web:1', pods), ['default/init', 'default/short'])
})

test('formatImages() has a line for each name, with the number of pods that use it', () => {
  const labels = { 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.name': 'p' }
  const user = { imageRef: first, imageId: '', image: { image: '' }, labels }
  assert.deepEqual(formatImages([image(second, []), web], [user, user]).split('\n'), [
    'IMAGE                    ID            SIZE    USED BY',
    '<none>                   bbbbbbbbbbbb  2.1 MB',
    'docker.io/library/web:1  aaaaaaaaaaaa  2.1 MB  1 pod',
    'r.test/web:2             aaaaaaaaaaaa  2.1 MB  1 pod',
  ])
  const [, pause] = formatImages([image(first, ['deckhand.local/pause:1'])], []).split('\n')
  assert.equal(pause, 'deckhand.local/pause:1  aaaaaaaaaaaa  2.1 MB  every pod')
  assert.equal(formatImages([], []), 'No images.')
  assert.deepEqual([0, 999, 1000, 1_500_000, 2e9, 5e15].map(formatDecimalBytes), [
    '0 B',
    '999 B',
    '1.0 kB',
    '1.5 MB',
    '2.0 GB',
    '5000.0 TB',
  ])
})
