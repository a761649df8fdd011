import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeDisks } from '../../../../test/fakes/fake-disks.ts'
import { deviceFiles } from '../../../system/directories/device-files.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import { createVolumeFiles } from '../../../system/directories/volume-files.ts'
import type { VolumeSource, DesiredVolume } from '../desired-volume.ts'
import { createLocalKind } from './local.ts'
import { createNfsKind } from './nfs.ts'

const never = new AbortController().signal
const PATH = '/k/pods/u-1/volumes/kubernetes.io~nfs/data'

const inline = (server: string, path = '/export', readOnly?: boolean): VolumeSource => ({
  kind: 'inline',
  volume: { name: 'data', nfs: { server, path, readOnly } },
})

function desiredOf(source: VolumeSource, parts: Partial<DesiredVolume> = {}): DesiredVolume {
  const pod = createPod()
  return {
    uid: pod.metadata.uid,
    specName: 'data',
    path: PATH,
    pod,
    name: 'data',
    source,
    readOnly: false,
    fsGroup: 9,
    fsGroupChangePolicy: 'Always',
    fsUser: undefined,
    nestedMountPoints: [],
    ...parts,
  }
}

function setUp() {
  const disks = new FakeDisks()
  return { disks, kind: createNfsKind(disks.deps) }
}

const persistent: VolumeSource = {
  kind: 'persistent',
  volume: {
    metadata: { name: 'pv' },
    spec: { nfs: { server: 's', path: '/' }, mountOptions: ['soft', 'nolock', 'ro'] },
  },
  claim: { namespace: 'shop', name: 'c' },
}

const rows: readonly (readonly [string, DesiredVolume, mount: string])[] = [
  ['by name', desiredOf(inline('nas.lan')), `nas.lan:/export ${PATH}`],
  ['by address', desiredOf(inline('10.0.0.1')), `10.0.0.1:/export ${PATH}`],
  ['by an IPv6 address', desiredOf(inline('fd00::1')), `[fd00::1]:/export ${PATH}`],
  ['that already has its brackets', desiredOf(inline('[fd00::1]')), `[fd00::1]:/export ${PATH}`],
  ['read-only by itself', desiredOf(inline('s', '/export', true)), `s:/export ${PATH} ro`],
  ['with options, sorted and each once', desiredOf(persistent, { readOnly: true }), `s:/ ${PATH} nolock,ro,soft`],
]

describe('a volume of an NFS server', () => {
  for (const [name, desired, mount] of rows) {
    test(`is mounted: a server ${name}`, async () => {
      const { disks, kind } = setUp()
      await kind.setUp(desired, never)
      assert.deepEqual(disks.take(), [`mkdir ${PATH} 750`, `mount nfs ${mount}`])
      await kind.setUp(desired, never)
      assert.deepEqual(disks.take(), [])
    })
  }

  test('is never given to a group, and taken away by force where needed', async () => {
    const { disks, kind } = setUp()
    const desired = desiredOf(inline('s', '/export', true))
    assert.deepEqual(await kind.setUp(desired, never), {
      kind: 'files',
      hostPath: PATH,
      readOnly: true,
      selinuxRelabel: false,
      groups: [],
    })
    disks.take()
    await kind.tearDown(desired, never)
    assert.deepEqual(disks.take(), [`unmount ${PATH} force`, `rmdir ${PATH}`])
  })

  for (const server of ['-o', 'a b', '', 'a/b']) {
    test(`cannot be of the server "${server}"`, async () => {
      await assert.rejects(setUp().kind.setUp(desiredOf(inline(server)), never), /expected the name of a server/)
    })
  }

  test('leaves nothing behind when it cannot be mounted, or says so', async () => {
    const { disks, kind } = setUp()
    disks.failures.set('mount', new MountError('access denied', { uncertain: false }))
    await assert.rejects(kind.setUp(desiredOf(inline('s')), never), { name: 'MountError', message: 'access denied' })
    assert.equal(disks.take().at(-1), `rmdir ${PATH}`)
    disks.failures.set('mount', new MountError('late', { uncertain: true }))
    await assert.rejects(kind.setUp(desiredOf(inline('s')), never), { name: 'UncertainMountError', message: 'late' })
    disks.failures.set('mount', new MountError('access denied', { uncertain: false }))
    disks.failures.set('rmdir', new Error('ENOTEMPTY'))
    await assert.rejects(kind.setUp(desiredOf(inline('s')), never), { name: 'UncertainMountError' })
  })
})

describe('data in a volume', () => {
  for (const state of ['that cannot be unmounted', 'whose directory has data below the mount']) {
    for (const [name, plugin] of [
      ['nfs', 'kubernetes.io~nfs'],
      ['local', 'kubernetes.io~local-volume'],
    ] as const) {
      test(`stays when a ${name} volume ${state} is taken away`, async (t) => {
        const root = await mkdtemp(join(tmpdir(), 'volume-data-'))
        t.after(() => rm(root, { recursive: true }))
        const path = join(root, 'pods/u-1/volumes', plugin, 'data')
        await mkdir(join(path, 'inner'), { recursive: true })
        await writeFile(join(path, 'inner', 'precious'), 'data')
        const disks = new FakeDisks()
        const isBusy = state.endsWith('unmounted')
        if (isBusy) disks.failures.set('unmount', new Error('target is busy'))
        if (isBusy) disks.addMount({ point: path })
        const volumeFiles = createVolumeFiles({ rootDirectory: root })
        const deps = { ...disks.deps, rootDirectory: root, volumeFiles, deviceFiles }
        const kind = name === 'nfs' ? createNfsKind(deps) : createLocalKind(deps)
        const place = desiredOf(inline('s'), { path })
        await assert.rejects(kind.tearDown(place, never), isBusy ? /target is busy/ : { code: 'ENOTEMPTY' })
        assert.equal(await readFile(join(path, 'inner', 'precious'), 'utf8'), 'data')
      })
    }
  }
})
