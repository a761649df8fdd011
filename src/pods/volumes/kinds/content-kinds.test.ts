import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { createDesiredVolume } from '../../../../test/builders/create-desired-volume.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { FakeVolumeHost } from '../../../../test/fakes/fake-volume-host.ts'
import type { Payload } from '../../../system/files/payload/payload.ts'
import type { Volume } from '../../../model/generated/core-v1.ts'
import { ObjectError } from '../../objects/object-api.ts'
import { createEmptyDirectories } from '../usage/empty-directories.ts'
import type { DesiredVolume } from '../desired-volume.ts'
import { createConfigMapKind } from './config-map.ts'
import { createDownwardApiKind } from './downward-api.ts'
import { createProjectedKind } from './projected.ts'
import { createSecretKind } from './secret.ts'

const { signal } = new AbortController()

/** The four kinds on one node, and what was last written. */
function createKinds() {
  const host = new FakeVolumeHost()
  const written: Payload[] = []
  const deps = {
    directories: createEmptyDirectories(host.deps),
    writer: {
      async write({ payload }: { readonly payload: Payload }) {
        written.push(payload)
        return true
      },
    },
    makeMountPoints: async () => {},
    content: {
      async configMap({ namespace, name }: { readonly namespace: string; readonly name: string }) {
        if (name !== 'cfg') throw new ObjectError('NotFound', `configmap "${name}" not found`)
        return { data: { key: namespace } }
      },
      async secret({ namespace, name }: { readonly namespace: string; readonly name: string }) {
        if (name !== 'sec') throw new ObjectError('NotFound', `secret "${name}" not found`)
        return { data: { key: Buffer.from(namespace).toString('base64') } }
      },
      token: async () => ({ token: 'token', expiresAt: 0, lifeSeconds: 0 }),
    },
    nodeAllocatable: () => new Map(),
    clock: new FakeClock(),
    log: host.deps.log,
  }
  const kinds = {
    configMap: createConfigMapKind(deps),
    secret: createSecretKind(deps),
    downwardAPI: createDownwardApiKind(deps),
    projected: createProjectedKind(deps),
  }
  return { host, kinds, written }
}

type Kind = keyof ReturnType<typeof createKinds>['kinds']
const defaultMode = 0o640
const file = (text: string, mode = defaultMode) => ({ content: new TextEncoder().encode(text), mode })
const item = [{ key: 'key', path: 'dir/file', mode: 0o400 }]
const field = [{ path: 'name', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }]

describe('volumes with content', () => {
  const rows: readonly {
    readonly name: string
    readonly kind: Kind
    readonly volume: Omit<Volume, 'name'>
    readonly parts?: Partial<DesiredVolume>
    readonly payload: Readonly<Record<string, object>>
  }[] = [
    {
      name: 'a ConfigMap of the pod’s namespace',
      kind: 'configMap',
      volume: { configMap: { name: 'cfg', defaultMode } },
      payload: { key: file('shop') },
    },
    {
      name: 'an item of a ConfigMap',
      kind: 'configMap',
      volume: { configMap: { name: 'cfg', defaultMode, items: item } },
      payload: { 'dir/file': file('shop', 0o400) },
    },
    {
      name: 'a ConfigMap that may be missing',
      kind: 'configMap',
      volume: { configMap: { name: 'none', defaultMode, optional: true } },
      payload: {},
    },
    {
      name: 'a Secret',
      kind: 'secret',
      volume: { secret: { secretName: 'sec', defaultMode } },
      payload: { key: file('shop') },
    },
    {
      name: 'an item of a Secret',
      kind: 'secret',
      volume: { secret: { secretName: 'sec', defaultMode, items: item } },
      payload: { 'dir/file': file('shop', 0o400) },
    },
    {
      name: 'a field of the pod',
      kind: 'downwardAPI',
      volume: { downwardAPI: { defaultMode, items: field } },
      payload: { name: file('web') },
    },
    {
      name: 'a projection',
      kind: 'projected',
      volume: {
        projected: {
          defaultMode,
          sources: [{ configMap: { name: 'cfg' } }, { serviceAccountToken: { path: 'token' } }],
        },
      },
      parts: { fsUser: 1000 },
      payload: { key: file('shop'), token: { ...file('token', 0o600), owner: 1000 } },
    },
  ]
  for (const { name, kind, volume, parts, payload } of rows)
    test(`shows ${name}`, async () => {
      const { kinds, written } = createKinds()
      await kinds[kind].setUp(createDesiredVolume(volume, parts), signal)
      assert.deepEqual(written, [new Map(Object.entries(payload))])
    })

  test('only ConfigMaps are on the disk', async () => {
    const rows = { configMap: 'cfg', secret: 'sec', downwardAPI: undefined, projected: undefined } as const
    const media: Record<string, boolean> = {}
    for (const [kind, name] of Object.entries(rows)) {
      const { host, kinds } = createKinds()
      const source = { name, secretName: name, defaultMode }
      await kinds[kind as Kind].setUp(createDesiredVolume({ [kind]: source }), signal)
      media[kind] = host.mounts.length > 0
    }
    assert.deepEqual(media, { configMap: false, secret: true, downwardAPI: true, projected: true })
  })

  const failures: readonly (readonly [kind: Kind, volume: Omit<Volume, 'name'>, message: string])[] = [
    ['configMap', { configMap: { name: 'none', defaultMode } }, 'configmap "none" not found'],
    [
      'configMap',
      { configMap: { name: 'cfg', defaultMode, items: [{ key: 'none', path: 'x' }] } },
      'configmap references non-existent config key: none',
    ],
    ['secret', { secret: { secretName: 'none', defaultMode } }, 'secret "none" not found'],
    [
      'secret',
      { secret: { secretName: 'sec', defaultMode, items: [{ key: 'none', path: 'x' }] } },
      'references non-existent secret key: none',
    ],
    ...(['configMap', 'secret', 'downwardAPI', 'projected'] as const).map(
      (kind) =>
        [kind, { [kind]: {} }, 'Cannot choose the mode of files: no defaultMode, expected one such as 0644'] as const,
    ),
    ['secret', { emptyDir: {} }, 'Cannot mount volume "data": expected secret in the spec of its pod'],
  ]
  for (const [kind, volume, message] of failures)
    test(`${kind} fails with ${message}`, async () => {
      const { kinds, host } = createKinds()
      await assert.rejects(kinds[kind].setUp(createDesiredVolume(volume, { pod: createPod() }), signal), { message })
      assert.deepEqual(host.take(), [])
    })

  test('the plugins have the names that are part of paths', () => {
    assert.deepEqual(
      Object.values(createKinds().kinds).map(({ plugin }) => plugin),
      ['kubernetes.io/configmap', 'kubernetes.io/secret', 'kubernetes.io/downward-api', 'kubernetes.io/projected'],
    )
  })
})
