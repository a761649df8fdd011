import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeDisks } from '../../../../test/fakes/fake-disks.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import type { PersistentVolumeSpec } from '../../../model/generated/core-v1.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import type { DesiredVolume } from '../desired-volume.ts'
import { createLocalKind } from './local.ts'

const never = new AbortController().signal
const GLOBAL = '/k/plugins/kubernetes.io/local-volume/mounts/pv'
const MAPS = '/k/plugins/kubernetes.io~local-volume/volumeDevices/pv'

function desiredOf(uid: string, spec: PersistentVolumeSpec, parts: Partial<DesiredVolume> = {}): DesiredVolume {
  const folder = spec.volumeMode === 'Block' ? 'volumeDevices' : 'volumes'
  return {
    uid: parsePodUid(uid),
    specName: 'pv',
    path: `/k/pods/${uid}/${folder}/kubernetes.io~local-volume/pv`,
    pod: createPod({ metadata: { uid } }),
    name: 'data',
    source: {
      kind: 'persistent',
      volume: { metadata: { name: 'pv', annotations: { 'pv.beta.kubernetes.io/gid': '77' } }, spec },
      claim: { namespace: 'shop', name: 'c' },
    },
    readOnly: false,
    fsGroup: undefined,
    fsGroupChangePolicy: 'Always',
    fsUser: undefined,
    nestedMountPoints: [],
    ...parts,
  }
}

const directory: PersistentVolumeSpec = { local: { path: '/mnt/a' }, mountOptions: ['noatime'] }
const disk: PersistentVolumeSpec = { local: { path: '/dev/disk/by-id/x' } }
const bare: PersistentVolumeSpec = { ...disk, volumeMode: 'Block' }
const PATH = '/k/pods/u-1/volumes/kubernetes.io~local-volume/pv'

function setUp() {
  const disks = new FakeDisks()
  disks.paths.set('/mnt/a', { kind: 'directory', group: 5 })
  disks.paths.set('/dev/disk/by-id/x', { kind: 'blockDevice', real: '/dev/sdb', group: 0 })
  disks.paths.set('/etc/passwd', { kind: 'other', group: 0 })
  disks.paths.set(GLOBAL, { kind: 'directory', group: 5 })
  return { disks, kind: createLocalKind(disks.deps) }
}

describe('a local volume that is a directory', () => {
  test('is measured by its file system, or by what is in it where it shares that with others', () => {
    const { kind } = setUp()
    const desired = desiredOf('u-1', directory)
    assert.equal(kind.measureOf?.(desired), 'fileSystem')
    const annotations = { 'pv.kubernetes.io/provisioned-by': 'deckhand.local/folder' }
    const volume = { metadata: { name: 'pv', annotations }, spec: directory }
    const source = { kind: 'persistent', volume, claim: { namespace: 'shop', name: 'c' } } as const
    assert.equal(kind.measureOf?.({ ...desired, source }), 'walk')
  })

  test('is bound for the pod, and only unbound at the end', async () => {
    const { disks, kind } = setUp()
    const desired = desiredOf('u-1', directory)
    assert.deepEqual(await kind.setUp(desired, never), {
      kind: 'files',
      hostPath: PATH,
      readOnly: false,
      selinuxRelabel: true,
      groups: [77],
    })
    assert.deepEqual(disks.take(), [`mkdir ${PATH} 750`, `bind /mnt/a ${PATH} noatime`])
    await kind.setUp(desired, never)
    assert.deepEqual(disks.take(), [])
    await kind.tearDown(desired, never)
    assert.deepEqual(disks.take(), [`unmount ${PATH}`, `rmdir ${GLOBAL}`, `rmdir ${PATH}`])
    await kind.tearDown(desired, never)
    assert.deepEqual(disks.take(), [`rmdir ${GLOBAL}`, `rmdir ${PATH}`])
  })

  test('is bound read-only where that is asked for, and keeps its group then', async () => {
    const { disks, kind } = setUp()
    const ready = await kind.setUp(desiredOf('u-1', directory, { readOnly: true, fsGroup: 9 }), never)
    assert.deepEqual(disks.take(), [`mkdir ${PATH} 750`, `bind /mnt/a ${PATH} noatime,ro`])
    assert.equal(ready.kind === 'files' && ready.readOnly, true)
  })

  test('is given to the group of the pod, by its policy', async () => {
    const { disks, kind } = setUp()
    const desired = desiredOf('u-1', directory, { fsGroup: 9 })
    await kind.setUp(desired, never)
    assert.equal(disks.take().at(-1), `own ${PATH} 9`)
    await kind.tearDown(desired, never)
    disks.take()
    await kind.setUp({ ...desired, fsGroupChangePolicy: 'OnRootMismatch' }, never)
    assert.equal(disks.take().at(-1), `own ${PATH} 9 onlyOnRootMismatch`)
    // After a restart of the agent: whatever was not finished is, and no more.
    await kind.setUp(desired, never)
    assert.deepEqual(disks.take(), [`own ${PATH} 9 onlyOnRootMismatch`])
  })

  test('keeps the group of a pod that uses it already, and reports when that is another', async () => {
    const { disks, kind } = setUp()
    await kind.setUp(desiredOf('u-1', directory, { fsGroup: 5 }), never)
    await kind.setUp(desiredOf('u-2', directory, { fsGroup: 5 }), never)
    assert.deepEqual(disks.events, [])
    await kind.setUp(desiredOf('u-3', directory, { fsGroup: 9 }), never)
    assert.deepEqual(
      disks.take().filter((line) => line.startsWith('own')),
      [`own ${PATH} 5`],
    )
    assert.deepEqual(disks.events, [
      'Warning AlreadyMountedVolume The requested fsGroup is 9, but the volume pv has GID 5. The volume may not be shareable.',
    ])
  })

  test('leaves nothing behind when it cannot be given to the group, or says so', async () => {
    const { disks, kind } = setUp()
    disks.failures.set('own', new Error('EIO'))
    const desired = desiredOf('u-1', directory, { fsGroup: 9 })
    await assert.rejects(kind.setUp(desired, never), { name: 'Error', message: 'EIO' })
    assert.deepEqual(disks.take().slice(-2), [`unmount ${PATH}`, `rmdir ${PATH}`])
    disks.failures.set('unmount', new Error('busy'))
    await assert.rejects(kind.setUp(desired, never), { name: 'UncertainMountError', message: 'EIO' })
  })

  const refusals: readonly (readonly [path: string, message: string])[] = [
    ['/mnt/absent', 'Cannot use the local volume "pv": path "/mnt/absent" does not exist'],
    ['/etc/passwd', 'Cannot use "/etc/passwd": only directory and block device are supported'],
    ['/mnt/../etc', 'Cannot use the local volume "pv": path "/mnt/../etc", expected an absolute one without ".."'],
  ]
  for (const [path, message] of refusals) {
    test(`cannot be ${path}`, async () => {
      const { disks, kind } = setUp()
      await assert.rejects(kind.setUp(desiredOf('u-1', { local: { path } }), never), { message })
      assert.deepEqual(disks.take(), [])
    })
  }
})

describe('a local volume that is a disk', () => {
  test('is formatted when it is blank, mounted once for all pods, and unmounted after the last', async () => {
    const { disks, kind } = setUp()
    disks.contents.set('/dev/sdb', { kind: 'blank' })
    const [first, second] = [desiredOf('u-1', disk), desiredOf('u-2', disk)]
    await kind.setUp(first, never)
    assert.deepEqual(disks.take(), [
      'format /dev/sdb ext4',
      `mkdir ${GLOBAL} 750`,
      `mount ext4 /dev/sdb ${GLOBAL}`,
      `mkdir ${first.path} 750`,
      `bind ${GLOBAL} ${first.path}`,
    ])
    await kind.setUp(second, never)
    assert.deepEqual(disks.take(), [`mkdir ${second.path} 750`, `bind ${GLOBAL} ${second.path}`])
    await kind.tearDown(first, never)
    assert.deepEqual(disks.take(), [`unmount ${first.path}`, `rmdir ${first.path}`])
    await kind.tearDown(second, never)
    assert.deepEqual(disks.take(), [
      `unmount ${second.path}`,
      `unmount ${GLOBAL}`,
      `rmdir ${GLOBAL}`,
      `rmdir ${second.path}`,
    ])
  })

  test('is checked and keeps what is on it otherwise', async () => {
    const { disks, kind } = setUp()
    disks.contents.set('/dev/sdb', { kind: 'fileSystem', type: 'xfs' })
    await kind.setUp(desiredOf('u-1', { ...disk, mountOptions: ['noatime'] }, { readOnly: true }), never)
    assert.deepEqual(disks.take(), [
      'fsck /dev/sdb',
      `mkdir ${GLOBAL} 750`,
      `mount xfs /dev/sdb ${GLOBAL} noatime`,
      `mkdir ${PATH} 750`,
      `bind ${GLOBAL} ${PATH} ro`,
    ])
  })

  test('is never formatted on doubt, nor for a reader', async () => {
    const { disks, kind } = setUp()
    disks.contents.set('/dev/sdb', { kind: 'other', what: 'a partition table (gpt)' })
    await assert.rejects(kind.setUp(desiredOf('u-1', disk), never), {
      message: 'Cannot mount "/dev/sdb": a partition table (gpt) is on it, expected a file system or nothing at all',
    })
    disks.contents.set('/dev/sdb', { kind: 'blank' })
    await assert.rejects(kind.setUp(desiredOf('u-1', disk, { readOnly: true }), never), {
      message: 'Cannot mount "/dev/sdb": nothing is on it, and read-only it is not formatted',
    })
    disks.contents.set('/dev/sdb', { kind: 'fileSystem', type: 'xfs' })
    disks.failures.set('fsck', new Error('errors left'))
    await assert.rejects(kind.setUp(desiredOf('u-1', disk), never), /errors left/)
    assert.deepEqual(disks.take(), ['fsck /dev/sdb'])
  })

  test('says when another file system is on it than the volume asks for', async () => {
    const { disks, kind } = setUp()
    disks.contents.set('/dev/sdb', { kind: 'fileSystem', type: 'xfs' })
    const asked = { local: { path: '/dev/disk/by-id/x', fsType: 'ext4' } }
    disks.failures.set('mount', new MountError('wrong fs type', { uncertain: false }))
    await assert.rejects(kind.setUp(desiredOf('u-1', asked), never), {
      message: 'wrong fs type; the volume asks for ext4, but the device has xfs',
    })
    disks.failures.set('mount', new MountError('late', { uncertain: true }))
    await assert.rejects(kind.setUp(desiredOf('u-1', asked), never), { name: 'UncertainMountError', message: 'late' })
  })

  test('is not unmounted while another pod comes', async () => {
    const { disks, kind } = setUp()
    disks.contents.set('/dev/sdb', { kind: 'fileSystem', type: 'ext4' })
    const [first, second] = [desiredOf('u-1', disk), desiredOf('u-2', disk)]
    await kind.setUp(first, never)
    await Promise.all([kind.tearDown(first, never), kind.setUp(second, never)])
    const points = disks.mounts.map(({ point, device }) => [point, device])
    assert.deepEqual(points.slice(1), [
      [GLOBAL, '/dev/sdb'],
      [second.path, '/dev/sdb'],
    ])
  })
})

describe('a local volume as a bare device', () => {
  test('is bound, held and linked; taken back in turn, the link last', async () => {
    const { disks, kind } = setUp()
    const desired = desiredOf('u-1', bare)
    assert.deepEqual(await kind.setUp(desired, never), { kind: 'device', hostPath: '/dev/sdb', permissions: 'mrw' })
    assert.deepEqual(disks.take(), [
      `link ${desired.path} /dev/sdb`,
      `touch ${MAPS}/u-1`,
      `bind /dev/sdb ${MAPS}/u-1`,
      `hold ${MAPS}/u-1`,
    ])
    assert.deepEqual(disks.events, [
      `Normal SuccessfulMountVolume MapVolume.MapPodDevice succeeded for volume "pv" globalMapPath "${MAPS}"`,
      `Normal SuccessfulMountVolume MapVolume.MapPodDevice succeeded for volume "pv" volumeMapPath "${desired.path.replace('/pv', '')}"`,
    ])
    await kind.setUp(desired, never)
    assert.deepEqual(disks.take(), [`link ${desired.path} /dev/sdb`, `touch ${MAPS}/u-1`, `hold ${MAPS}/u-1`])
    await kind.tearDown(desired, never)
    assert.deepEqual(disks.take(), [
      `release ${MAPS}/u-1`,
      `unmount ${MAPS}/u-1`,
      `unlink ${MAPS}/u-1`,
      `rmdir ${MAPS}`,
      `unlink ${desired.path}`,
    ])
  })

  test('can be read only where that is asked for, and must be a device', async () => {
    const { kind } = setUp()
    assert.deepEqual(await kind.setUp(desiredOf('u-1', bare, { readOnly: true }), never), {
      kind: 'device',
      hostPath: '/dev/sdb',
      permissions: 'r',
    })
    await assert.rejects(kind.setUp(desiredOf('u-2', { ...directory, volumeMode: 'Block' }), never), {
      message: 'Cannot use "/mnt/a" as a block device: it is a directory',
    })
  })

  test('leaves nothing bound when it cannot be held', async () => {
    const { disks, kind } = setUp()
    disks.failures.set('hold', new Error('no loop device'))
    await assert.rejects(kind.setUp(desiredOf('u-1', bare), never), /no loop device/)
    assert.equal(disks.mounts.length, 1)
  })
})

describe('a local volume that the cluster made larger', () => {
  const pending = {
    capacity: { storage: '1Gi' },
    allocatedResources: { storage: '2Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
  }
  const grown = (spec: PersistentVolumeSpec) => ({
    metadata: { name: 'pv' },
    spec: { ...spec, capacity: { storage: '2Gi' } },
  })
  const DONE = 'Normal FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "pv" node-1'

  /** A pod that uses it, since before it became larger. */
  async function use(spec: PersistentVolumeSpec, parts: Partial<DesiredVolume> = {}) {
    const { disks, kind } = setUp()
    disks.contents.set('/dev/sdb', { kind: 'fileSystem', type: 'ext4' })
    disks.claim = { status: { capacity: { storage: '1Gi' } } }
    const desired = desiredOf('u-1', { ...spec, capacity: { storage: '1Gi' } }, parts)
    const ready = await kind.setUp(desired, never)
    disks.take()
    disks.events.splice(0)
    disks.volume = grown(spec)
    disks.claim = { status: pending }
    return { disks, kind, refresh: () => kind.setUp({ ...desired, ready }, never) }
  }

  const rows = [
    ['a disk', disk, [`grow /dev/sdb ${GLOBAL}`]],
    ['a bare device', bare, []],
    ['a directory', directory, []],
  ] as const
  for (const [name, spec, calls] of rows) {
    test(`is made so while containers run, once: ${name}`, async () => {
      const { disks, refresh } = await use(spec)
      await refresh()
      assert.deepEqual(disks.take(), ['claim NodeResizeInProgress', ...calls, 'claim  2Gi'])
      assert.deepEqual(disks.events, [DONE, DONE])
      await refresh()
      assert.deepEqual(disks.take(), [])
    })
  }

  test('is made so before a pod starts', async () => {
    const { disks, kind } = setUp()
    disks.contents.set('/dev/sdb', { kind: 'fileSystem', type: 'ext4' })
    disks.claim = { status: pending }
    await kind.setUp(desiredOf('u-1', grown(disk).spec), never)
    assert.deepEqual(disks.take().slice(-3), ['claim NodeResizeInProgress', `grow /dev/sdb ${GLOBAL}`, 'claim  2Gi'])
  })

  test('is left as it is for a reader', async () => {
    const { disks, refresh } = await use(disk, { readOnly: true })
    await refresh()
    assert.deepEqual(disks.take(), [])
    assert.match(disks.events[0] ?? '', /FileSystemResizeFailed .* requested read-only file system/)
  })

  test('says in the claim what went wrong, and tries again', async () => {
    const { disks, refresh } = await use(disk)
    disks.failures.set('grow', new Error('errors on it'))
    await assert.rejects(refresh(), { message: 'errors on it' })
    assert.equal(disks.claim.status?.conditions?.[0]?.message, 'failed to expand pvc with errors on it')
    disks.failures.clear()
    await refresh()
    assert.equal(disks.take().at(-1), 'claim  2Gi')
    assert.deepEqual(disks.claim.status?.conditions, [])
  })

  test('is no matter of a folder that the node itself provides', async () => {
    const { disks, kind } = setUp()
    disks.claim = { status: pending }
    const annotations = { 'pv.kubernetes.io/provisioned-by': 'deckhand.local/folder' }
    const volume = { metadata: { name: 'pv', annotations }, spec: grown(directory).spec }
    const source = { kind: 'persistent', volume, claim: { namespace: 'shop', name: 'c' } } as const
    await kind.setUp(desiredOf('u-1', directory, { source }), never)
    assert.deepEqual(disks.events, [])
  })
})
