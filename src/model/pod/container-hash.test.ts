import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerHash } from './container-hash.ts'

test('containerHash() gives the values that the Go kubelet writes', () => {
  assert.equal(containerHash({ name: 'test_container', image: 'foo/image:v1' }), '8e45cbd0')
  assert.equal(containerHash({ name: 'foo', image: 'bar' }), '11a6d6d6')
})

test('containerHash() depends on the name and on the image', () => {
  const hashes = [
    { name: 'a', image: 'i' },
    { name: 'a', image: 'j' },
    { name: 'b', image: 'i' },
    { name: 'a', image: '<&>' },
  ].map(containerHash)
  assert.equal(new Set(hashes).size, 4)
})
