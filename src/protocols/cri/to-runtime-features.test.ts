import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toRuntimeFeatures } from './to-runtime-features.ts'

const SILENT = { handlers: [], features: undefined }

describe('toRuntimeFeatures()', () => {
  test('believes what the runtime says', () => {
    const handlers = [
      { name: '', features: { userNamespaces: true, recursiveReadOnlyMounts: true } },
      { name: 'kata', features: undefined },
    ]
    const features = { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false }
    assert.deepEqual(toRuntimeFeatures({ handlers, features }, { name: 'containerd', version: 'v2.2.0' }), {
      handlers: new Map([
        ['', { userNamespaces: true, recursiveReadOnlyMounts: true }],
        ['kata', { userNamespaces: false, recursiveReadOnlyMounts: false }],
      ]),
      supplementalGroupsPolicy: true,
      imageVolumes: 'parts',
      stopSignals: false,
    })
  })

  test('believes in nothing that the runtime does not say', () => {
    assert.deepEqual(toRuntimeFeatures(SILENT, { name: 'containerd', version: '1.6.20~ds1' }), {
      handlers: new Map(),
      supplementalGroupsPolicy: false,
      imageVolumes: 'none',
      stopSignals: false,
    })
  })

  const versions: readonly (readonly [name: string, version: string, expected: string])[] = [
    ['containerd', 'v2.0.5', 'none'],
    ['containerd', 'v2.1.0-rc.1', 'whole'],
    ['containerd', '2.1.6+bottlerocket', 'whole'],
    ['containerd', 'v2.2.0', 'parts'],
    ['containerd', 'v3.0.0', 'parts'],
    // A build without a version.
    ['containerd', 'a1b2c3d', 'unknown'],
    ['cri-o', '1.30.9', 'none'],
    ['cri-o', '1.31.0', 'whole'],
    ['cri-o', '1.33.2', 'parts'],
    ['docker', '28.3.0', 'none'],
    ['youki-cri', '0.1.0', 'unknown'],
    ['toString', '1.0', 'unknown'],
  ]
  for (const [name, version, expected] of versions) {
    test(`${name} ${version}: image volumes ${expected}`, () => {
      assert.equal(toRuntimeFeatures(SILENT, { name, version }).imageVolumes, expected)
    })
  }

  for (const [name, version, expected] of [
    ['containerd', '1.6.20~ds1', false],
    ['containerd', 'v2.2.1', false],
    ['containerd', 'v2.3.0', true],
    ['containerd', 'a1b2c3d', true],
    ['cri-o', '1.31.0', true],
    ['docker', '20.10.24', true],
  ] as const) {
    test(`${name} ${version}: ${expected ? 'may follow' : 'ignores'} stop signals`, () => {
      assert.equal(toRuntimeFeatures(SILENT, { name, version }).stopSignals, expected)
    })
  }
})
