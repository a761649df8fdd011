import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hugepageSize } from './hugepage-sizes.ts'

test('hugepageSize() spells sizes as the kernel does', () => {
  const rows = [
    ['hugepages-64Ki', '64KB'],
    ['hugepages-2Mi', '2MB'],
    ['hugepages-2048Ki', '2MB'],
    ['hugepages-1Gi', '1GB'],
    ['hugepages-16Gi', '16GB'],
    ['memory', undefined],
  ] as const
  for (const [resource, size] of rows) assert.equal(hugepageSize(resource), size)
})
