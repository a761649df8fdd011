import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasImageName, isImageId, normalImageName, parseImageReference } from './image-reference.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

describe('names of images', () => {
  for (const [name, repository, version] of [
    ['busybox', 'busybox', 'latest'],
    ['busybox:1.36', 'busybox', '1.36'],
    ['localhost:5000/a/b', 'localhost:5000/a/b', 'latest'],
    ['localhost:5000/a/b:1', 'localhost:5000/a/b', '1'],
    [`reg.test/a@${DIGEST}`, 'reg.test/a', DIGEST],
    [`reg.test/a:1@${DIGEST}`, 'reg.test/a', DIGEST],
  ] as const)
    test(`"${name}" is pulled as one thing`, () => assert.deepEqual(parseImageReference(name), { repository, version }))

  test('are compared in full', () => {
    assert.equal(normalImageName('busybox'), 'docker.io/library/busybox:latest')
    assert.equal(normalImageName('me/app:2'), 'docker.io/me/app:2')
    assert.equal(normalImageName('localhost/app'), 'localhost/app:latest')
    assert.ok(hasImageName('docker.io/library/busybox:latest', { tags: ['busybox:latest'], digests: [] }))
    assert.ok(hasImageName(`reg.test/a:1@${DIGEST}`, { tags: [], digests: [`reg.test/a@${DIGEST}`] }))
  })

  test('that are only the beginning of an id are none', () => {
    assert.ok(!hasImageName('abc', { tags: ['reg.test/web:1'], digests: [] }))
    assert.ok(isImageId(DIGEST))
    assert.ok(!isImageId('sha256:abc'))
  })
})
