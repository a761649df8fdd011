import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeVolumeHost } from '../../../../test/fakes/fake-volume-host.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import { createEmptyDirectories } from './empty-directories.ts'
import type { DesiredEmptyDirectory } from './empty-directories.ts'

const { signal } = new AbortController()
const pod = createPod()
const disk: DesiredEmptyDirectory = {
  uid: pod.metadata.uid,
  name: 'data',
  path: '/v/data',
  pod,
  medium: '',
  sizeLimit: undefined,
  fsGroup: undefined,
}
const memory = { ...disk, medium: 'Memory', sizeLimit: '1k' }
const MARKER = 'u-1 kubernetes.io/empty-dir data'

function createNode() {
  const host = new FakeVolumeHost()
  return { host, directories: createEmptyDirectories(host.deps) }
}

describe('createEmptyDirectories()', () => {
  test('makes a directory on the disk, marker last', async () => {
    const { host, directories } = createNode()
    assert.equal(await directories.setUp({ ...disk, fsGroup: 7 }, signal), true)
    assert.deepEqual(host.take(), ['make /v/data 777', 'give /v/data to 7', 'mark data'])
  })

  test('mounts memory on the directory', async () => {
    const { host, directories } = createNode()
    assert.equal(await directories.setUp({ ...memory, fsGroup: 7 }, signal), true)
    assert.deepEqual(host.take(), [
      'make /v/data 777',
      'mount tmpfs tmpfs /v/data size=1000,noswap',
      'give /v/data to 7',
      'mark data',
    ])
  })

  test('leaves one that is complete as it is, group and all', async () => {
    for (const desired of [disk, memory]) {
      const { host, directories } = createNode()
      await directories.setUp(desired, signal)
      host.take()
      assert.equal(await directories.setUp({ ...desired, fsGroup: 7 }, signal), false)
      assert.deepEqual(host.take(), [])
    }
  })

  const unfinished: readonly {
    readonly name: string
    readonly desired: DesiredEmptyDirectory
    readonly there: (host: FakeVolumeHost) => void
    readonly done: readonly string[]
  }[] = [
    {
      name: 'the agent died before it set the marker of a directory',
      desired: { ...disk, fsGroup: 7 },
      there: (host) => host.directories.add('/v/data'),
      done: ['make /v/data 777', 'own /v/data 7 false false', 'mark data'],
    },
    {
      name: 'the agent died before it set the marker of a mount',
      desired: { ...memory, fsGroup: 7 },
      there: (host) => {
        host.directories.add('/v/data')
        host.addMount('/v/data', 'tmpfs')
      },
      done: ['own /v/data 7 false false', 'mark data'],
    },
    {
      name: 'somebody removed the directory',
      desired: disk,
      there: (host) => host.markers.add(MARKER),
      done: ['make /v/data 777', 'mark data'],
    },
    {
      name: 'the machine was restarted, and memory with it',
      desired: memory,
      there: (host) => {
        host.directories.add('/v/data')
        host.markers.add(MARKER)
      },
      done: ['make /v/data 777', 'mount tmpfs tmpfs /v/data size=1000,noswap', 'mark data'],
    },
    {
      name: 'something else is mounted there',
      desired: memory,
      there: (host) => {
        host.directories.add('/v/data')
        host.markers.add(MARKER)
        host.addMount('/v/data', 'ext4')
      },
      done: ['make /v/data 777', 'mount tmpfs tmpfs /v/data size=1000,noswap', 'mark data'],
    },
  ]
  for (const { name, desired, there, done } of unfinished)
    test(`completes it when ${name}`, async () => {
      const { host, directories } = createNode()
      there(host)
      assert.equal(await directories.setUp(desired, signal), true)
      assert.deepEqual(host.take(), done)
    })

  test('goes on without the group when it cannot be given to it, and says so', async () => {
    const { host, directories } = createNode()
    host.failures.set('give', new Error('EPERM'))
    assert.equal(await directories.setUp({ ...disk, fsGroup: 7 }, signal), true)
    assert.deepEqual(host.take().at(-1), 'mark data')
    assert.deepEqual(host.warnings, ['cannot give a volume to the group of its pod'])
  })

  test('sets no marker when the mount fails, and says when it may still happen', async () => {
    for (const uncertain of [false, true]) {
      const { host, directories } = createNode()
      host.failures.set('mount', new MountError('late', { uncertain }))
      await assert.rejects(directories.setUp(memory, signal), {
        name: uncertain ? 'UncertainMountError' : 'MountError',
      })
      assert.deepEqual([...host.markers], [])
    }
  })

  test('takes away the marker, then the mount, then the directory', async () => {
    const { host, directories } = createNode()
    await directories.setUp(memory, signal)
    host.take()
    await directories.tearDown(memory, signal)
    assert.deepEqual(host.take(), ['unmark data', 'unmount /v/data', 'remove /v/data'])
    await directories.tearDown(memory, signal)
    assert.deepEqual(host.take(), ['unmark data'])
  })

  test('unmounts what containers mounted in there, but not what is mounted in that', async () => {
    const { host, directories } = createNode()
    await directories.setUp(memory, signal)
    host.addMount('/v/data/fuse', 'fuse')
    host.addMount('/v/data/fuse/deeper', 'fuse')
    host.addMount('/v/data-of-another', 'tmpfs')
    host.take()
    await directories.tearDown(memory, signal)
    assert.deepEqual(host.take(), ['unmark data', 'unmount /v/data/fuse', 'unmount /v/data', 'remove /v/data'])
  })

  test('deletes nothing while something is mounted', async () => {
    const { host, directories } = createNode()
    await directories.setUp(memory, signal)
    host.failures.set('unmount', new MountError('busy', { uncertain: false }))
    await assert.rejects(directories.tearDown(memory, signal), /busy/)
    assert.deepEqual(host.directories, new Set(['/v/data']))
  })
})
