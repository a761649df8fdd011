import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { ObjectError } from '../../objects/object-api.ts'
import type { TokenSpec } from '../../objects/object-api.ts'
import type { VolumeProjection } from '../../../model/generated/core-v1.ts'
import type { VolumeContent } from './volume-content.ts'
import { gatherProjection } from './gather-projection.ts'
import type { ProjectionInfo } from './gather-projection.ts'

const { signal } = new AbortController()
const pod = createPod({ spec: { serviceAccountName: 'robot' } })

function createInfo(parts: Partial<ProjectionInfo> = {}): ProjectionInfo & { readonly asked: TokenSpec[] } {
  const asked: TokenSpec[] = []
  const content: VolumeContent = {
    async configMap({ namespace, name }) {
      if (name === 'cfg') return { data: { a: `${namespace} map`, b: 'b' } }
      if (name === 'away') throw new ObjectError('Unavailable', 'no connection')
      throw new ObjectError('NotFound', `configmap "${name}" not found`)
    },
    async secret({ name }) {
      if (name === 'sec') return { data: { a: 'AP8=' } }
      throw new ObjectError('NotFound', `secret "${name}" not found`)
    },
    async token(owner, spec) {
      asked.push(spec)
      return { token: `token of ${owner.spec.serviceAccountName}`, expiresAt: 0, lifeSeconds: 0 }
    },
  }
  const common = {
    pod,
    volume: 'all',
    defaultMode: 0o640,
    fsUser: undefined,
    fsGroup: undefined,
    nodeAllocatable: new Map(),
    content,
  }
  return { ...common, asked, ...parts }
}

const text = (value: string, mode = 0o640) => ({ content: new TextEncoder().encode(value), mode })
const token = (path: string, parts = {}) => ({ serviceAccountToken: { path, expirationSeconds: 600, ...parts } })

describe('gatherProjection()', () => {
  test('joins all sources; of one path the later counts', async () => {
    const sources: readonly VolumeProjection[] = [
      { configMap: { name: 'cfg' } },
      { secret: { name: 'sec' } },
      { downwardAPI: { items: [{ path: 'name', mode: 0o400, fieldRef: { fieldPath: 'metadata.name' } }] } },
      { configMap: { name: 'cfg', items: [{ key: 'a', path: 'dir/a', mode: 0o600 }] } },
      token('token'),
      {},
    ]
    assert.deepEqual(
      await gatherProjection(sources, createInfo(), signal),
      new Map<string, unknown>([
        ['a', { content: Uint8Array.of(0, 0xff), mode: 0o640 }],
        ['b', text('b')],
        ['name', text('web', 0o400)],
        ['dir/a', text('shop map', 0o600)],
        ['token', { ...text('token of robot'), owner: undefined }],
      ]),
    )
    assert.deepEqual(await gatherProjection(undefined, createInfo(), signal), new Map())
  })

  test('what is optional may be missing, as object or as key', async () => {
    const sources: readonly VolumeProjection[] = [
      { configMap: { name: 'none', optional: true, items: [{ key: 'a', path: 'a' }] } },
      { secret: { name: 'none', optional: true } },
      { configMap: { name: 'cfg', optional: true, items: [{ key: 'none', path: 'a' }] } },
    ]
    assert.deepEqual(await gatherProjection(sources, createInfo(), signal), new Map())
  })

  test('what cannot be asked for is not missing', async () => {
    const sources = [{ configMap: { name: 'away', optional: true } }]
    await assert.rejects(gatherProjection(sources, createInfo(), signal), { message: 'no connection' })
  })

  test('reports all failures at once', async () => {
    const sources: readonly VolumeProjection[] = [
      { configMap: { name: 'x' } },
      { configMap: { name: 'cfg' } },
      { secret: { name: 'sec', items: [{ key: 'none', path: 'a' }] } },
      { clusterTrustBundle: { path: 'ca' } },
      { podCertificate: { keyType: 'ED25519', signerName: 's' } },
    ]
    await assert.rejects(gatherProjection(sources, createInfo(), signal), {
      message:
        '[configmap "x" not found, references non-existent secret key: none, ' +
        'Cannot project clusterTrustBundle: not supported, the feature gate ClusterTrustBundleProjection is off, ' +
        'Cannot project podCertificate: not supported, the feature gate PodCertificateRequest is off]',
    })
  })

  test('asks for tokens that are bound to the pod', async () => {
    const info = createInfo()
    const sources = [
      token('a'),
      token('b', { audience: 'vault', expirationSeconds: undefined }),
      token('c', { audience: '' }),
    ]
    await gatherProjection(sources, info, signal)
    const boundObject = { kind: 'Pod', name: 'web', uid: 'u-1' }
    assert.deepEqual(info.asked, [
      { audiences: [], expirationSeconds: 600, boundObject },
      { audiences: ['vault'], expirationSeconds: 3600, boundObject },
      { audiences: [], expirationSeconds: 600, boundObject },
    ])
  })

  describe('of what a cluster has', () => {
    const wanted: unknown[] = []
    const info = createInfo()
    const content: VolumeContent = {
      ...info.content,
      trustAnchors: async ({ name }) => (name === 'own' ? 'anchors' : ''),
      podCertificate: async ({ pod: { metadata }, ...rest }) => {
        wanted.push([metadata.name, rest])
        return { keyPem: 'key\n', chainPem: 'chain\n' }
      },
    }
    const gather = (sources: readonly VolumeProjection[], parts: Partial<ProjectionInfo> = {}) =>
      gatherProjection(sources, { ...info, ...parts, content }, signal)

    test('shows trust bundles; an optional one that is missing is an empty file', async () => {
      const sources = [
        { clusterTrustBundle: { name: 'own', path: 'a' } },
        { clusterTrustBundle: { signerName: 'x/y', labelSelector: {}, optional: true, path: 'b' } },
      ]
      assert.deepEqual(
        await gather(sources),
        new Map([
          ['a', { ...text('anchors'), owner: undefined }],
          ['b', { ...text(''), owner: undefined }],
        ]),
      )
      assert.deepEqual(
        await gather(sources.slice(0, 1), { fsUser: 7 }),
        new Map([['a', { ...text('anchors', 0o600), owner: 7 }]]),
      )
    })

    test('reports a trust bundle that is missing', async () => {
      const sources = [
        { clusterTrustBundle: { name: 'none', path: 'a' } },
        { clusterTrustBundle: { signerName: 'x/y', path: 'b' } },
        { clusterTrustBundle: { path: 'c' } },
      ]
      await assert.rejects(gather(sources), {
        message:
          '[Cannot project clusterTrustBundle: there is none called "none", ' +
          'Cannot project clusterTrustBundle: there is none of signer "x/y" with these labels, ' +
          'Cannot project clusterTrustBundle: expected a name or a signerName]',
      })
    })

    test('shows a certificate of the pod in one file or in two', async () => {
      const source = { keyType: 'ED25519', signerName: 's' }
      const both = { ...source, keyPath: 'key', certificateChainPath: 'chain' }
      const sources = [
        { podCertificate: { ...source, credentialBundlePath: 'all' } },
        { configMap: { name: 'cfg' } },
        { podCertificate: both },
      ]
      const files = await gather(sources, { fsGroup: 5 })
      const own = (value: string) => ({ ...text(value, 0o600), owner: undefined })
      assert.deepEqual(
        ['all', 'key', 'chain'].map((path) => files.get(path)),
        [own('key\nchain\n'), own('key\n'), own('chain\n')],
      )
      assert.deepEqual(wanted.at(-1), ['web', { volume: 'all', index: 2, source: both }])
    })
  })

  const owners = [
    { fsUser: 1000, fsGroup: undefined, mode: 0o600 },
    { fsUser: undefined, fsGroup: 2000, mode: 0o600 },
    { fsUser: 0, fsGroup: 0, mode: 0o600 },
    { fsUser: undefined, fsGroup: undefined, mode: 0o640 },
  ]
  for (const { mode, ...ids } of owners)
    test(`a token for ${JSON.stringify(ids)} is for its owner`, async () => {
      assert.deepEqual(
        await gatherProjection([token('t')], createInfo(ids), signal),
        new Map([['t', { ...text('token of robot', mode), owner: ids.fsUser }]]),
      )
    })
})
