import assert from 'node:assert/strict'
import { mkdir, mkdtemp, open, readdir, readFile, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { createBlockDevices } from '../../src/system/mounts/block-devices.ts'
import { createGuardedFiles } from '../../src/system/guarded/create-guarded-files.ts'
import { describePath } from '../../src/system/files/describe-path.ts'
import { deviceFiles } from '../../src/system/directories/device-files.ts'
import { readMountTable } from '../../src/system/mounts/mount-table.ts'
import { createMounter } from '../../src/system/mounts/mounter.ts'
import { runProcessOrThrow } from '../../src/system/processes/run-process.ts'
import { createVolumeFiles } from '../../src/system/directories/volume-files.ts'
import type { PersistentVolumeSpec } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import { createLocalKind } from '../../src/pods/volumes/kinds/local.ts'
import type { DesiredVolume } from '../../src/pods/volumes/desired-volume.ts'
import { createPod } from '../builders/create-pod.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { inMountNamespace } from './in-mount-namespace.ts'

inMountNamespace(import.meta.filename, () => {
  const { signal } = new AbortController()
  const mounter = createMounter({ clock: systemClock })
  const devices = createBlockDevices({ clock: systemClock, log: silentLogger })
  const run = async (...argv: readonly string[]) =>
    (await runProcessOrThrow(systemClock, { argv, deadlineMs: 20_000 }, signal)).stdout.trim()

  /** These volumes have no size. */
  const unasked = () => Promise.reject(new Error('not to be asked'))

  async function createNode(t: TestContext) {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-local-')))
    const rootDirectory = join(folder, 'kubelet')
    const files = createGuardedFiles({ clock: systemClock, log: silentLogger, findLauncher: async () => [] })
    t.after(async () => {
      files[Symbol.dispose]()
      await rm(folder, { recursive: true })
    })
    const events: string[] = []
    const kind = createLocalKind({
      rootDirectory,
      nodeName: 'node-1',
      objects: { claim: unasked, persistentVolume: unasked, patchClaimStatus: unasked },
      mounter,
      volumeFiles: createVolumeFiles({ rootDirectory }),
      guarded: files,
      devices,
      deviceFiles,
      describePath: (path, s) => describePath(systemClock, path, s),
      events: { record: (_, { reason }) => void events.push(reason) },
      clock: systemClock,
      log: silentLogger,
    })
    const volumeOf = (uid: string, spec: PersistentVolumeSpec, parts: Partial<DesiredVolume> = {}): DesiredVolume => {
      const use = spec.volumeMode === 'Block' ? 'volumeDevices' : 'volumes'
      return {
        uid: parsePodUid(uid),
        specName: 'pv',
        path: join(rootDirectory, 'pods', uid, use, 'kubernetes.io~local-volume', 'pv'),
        pod: createPod({ metadata: { uid } }),
        name: 'data',
        source: {
          kind: 'persistent',
          volume: { metadata: { name: 'pv' }, spec },
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
    const mounted = async () =>
      (await readMountTable()).map(({ point }) => point).filter((point) => point.startsWith(`${folder}/`))
    return { folder, rootDirectory, kind, events, volumeOf, mounted }
  }

  /** A disk of 32 MB. */
  async function createDisk(t: TestContext, folder: string): Promise<string> {
    const image = join(folder, 'disk.img')
    await using file = await open(image, 'w')
    await file.truncate(32 * 1024 * 1024)
    const device = await run('losetup', '--find', '--show', image)
    t.after(() => run('losetup', '--detach', device))
    return device
  }

  describe('local volumes on a real kernel', () => {
    test('a blank disk is formatted once; data outlives its pods', async (t) => {
      const { folder, kind, volumeOf, mounted } = await createNode(t)
      const path = await createDisk(t, folder)
      assert.deepEqual(await devices.probe(path, signal), { kind: 'blank' })
      const [first, second] = [
        volumeOf('u-1', { local: { path } }, { fsGroup: 4321 }),
        volumeOf('u-2', { local: { path } }),
      ]
      await Promise.all([kind.setUp(first, signal), kind.setUp(second, signal)])
      await writeFile(join(first.path, 'precious'), 'data')
      const { gid, mode } = await stat(first.path)
      assert.deepEqual([gid, mode & 0o2770], [4321, 0o2770])
      await kind.tearDown(first, signal)
      assert.equal(await readFile(join(second.path, 'precious'), 'utf8'), 'data')
      await kind.tearDown(second, signal)
      assert.deepEqual(await mounted(), [])
      assert.deepEqual(await devices.probe(path, signal), { kind: 'fileSystem', type: 'ext4' })

      const reader = volumeOf('u-3', { local: { path } }, { readOnly: true })
      await kind.setUp(reader, signal)
      assert.equal(await readFile(join(reader.path, 'precious'), 'utf8'), 'data')
      await assert.rejects(writeFile(join(reader.path, 'more'), ''), { code: 'EROFS' })
      await kind.tearDown(reader, signal)
      await kind.tearDown(reader, signal)
      assert.deepEqual(await mounted(), [])
      await assert.rejects(stat(reader.path), { code: 'ENOENT' })
    })

    test('a disk with a partition table is refused and not touched', async (t) => {
      const { folder, kind, volumeOf } = await createNode(t)
      const path = await createDisk(t, folder)
      const sector = Buffer.alloc(512)
      sector.set([0x80, 1, 1, 0, 0x83, 1, 1, 0, 0, 8, 0, 0, 0, 8, 0, 0], 446)
      sector.set([0x55, 0xaa], 510)
      await writeFile(path, sector)
      await assert.rejects(
        kind.setUp(volumeOf('u-1', { local: { path } }), signal),
        /a partition table \(dos\) is on it/,
      )
      await using disk = await open(path)
      assert.deepEqual((await disk.read({ buffer: Buffer.alloc(512) })).buffer, sector)
    })

    test('a device that cannot be read is never taken for blank', async (t) => {
      const { folder, kind, volumeOf } = await createNode(t)
      const path = join(folder, 'ghost')
      await run('mknod', path, 'b', '7', '250')
      await assert.rejects(kind.setUp(volumeOf('u-1', { local: { path } }), signal))
      await assert.rejects(devices.probe(path, signal))
    })

    test('a directory is bound; what is in it stays', async (t) => {
      const { folder, kind, volumeOf, mounted } = await createNode(t)
      const path = join(folder, 'data')
      await mkdir(path)
      await writeFile(join(path, 'precious'), 'data')
      const desired = volumeOf('u-1', { local: { path }, mountOptions: ['noatime'] })
      await kind.setUp(desired, signal)
      assert.deepEqual(await readdir(desired.path), ['precious'])
      const entry = (await readMountTable()).find(({ point }) => point === desired.path)
      assert.equal(entry?.options.includes('noatime'), true)
      await kind.tearDown(desired, signal)
      assert.deepEqual([await mounted(), await readdir(path)], [[], ['precious']])
    })

    test('a bare device is held open for its pod', async (t) => {
      const { folder, rootDirectory, kind, events, volumeOf, mounted } = await createNode(t)
      const path = await createDisk(t, folder)
      const desired = volumeOf('u-1', { local: { path }, volumeMode: 'Block' })
      const other = volumeOf('u-2', { local: { path }, volumeMode: 'Block' })
      const holds = async () =>
        (await run('losetup', '--list', '--output', 'BACK-FILE')).split(rootDirectory).length - 1
      assert.deepEqual(await kind.setUp(desired, signal), { kind: 'device', hostPath: path, permissions: 'mrw' })
      await kind.setUp(desired, signal)
      await kind.setUp(other, signal)
      assert.deepEqual([await readlink(desired.path), await holds(), (await mounted()).length], [path, 2, 2])
      await kind.tearDown(desired, signal)
      assert.deepEqual([await holds(), (await mounted()).length], [1, 1])
      await kind.tearDown(other, signal)
      assert.deepEqual([await holds(), await mounted()], [0, []])
      // Two for each pod, as upstream: for the place on the node and for that of the pod.
      assert.deepEqual(
        events,
        Array.from({ length: 4 }, () => 'SuccessfulMountVolume'),
      )
      assert.deepEqual(await devices.probe(path, signal), { kind: 'blank' })
    })
  })
})
