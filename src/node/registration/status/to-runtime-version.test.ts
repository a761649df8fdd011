import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toRuntimeVersion } from './to-runtime-version.ts'

test('toRuntimeVersion() writes versions as the Go kubelet does', () => {
  const versions = ['2.1.4', 'v2.1.4', '1.6.20~ds1', '1.7.0-rc.1+abc', '1.30', 'unknown', '']
  assert.deepEqual(
    versions.map((version) => toRuntimeVersion({ name: 'containerd', version })),
    ['2.1.4', '2.1.4', '1.6.20', '1.7.0-rc.1+abc', '1.30', 'Unknown', 'Unknown'].map((text) => `containerd://${text}`),
  )
})
