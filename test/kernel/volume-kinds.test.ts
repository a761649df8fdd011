import assert from 'node:assert/strict'
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { createAtomicWriter } from '../../src/system/files/payload/atomic-writer.ts'
import { createGuardedFiles } from '../../src/system/guarded/create-guarded-files.ts'
import { makeMountPoints } from '../../src/system/mounts/make-mount-points.ts'
import { mountPointsBelow, readMountTable } from '../../src/system/mounts/mount-table.ts'
import { createMounter } from '../../src/system/mounts/mounter.ts'
import { mountsAt } from '../../src/system/mounts/mounts-at.ts'
import { createNoswapProbe } from '../../src/system/directories/noswap-probe.ts'
import { createVolumeFiles } from '../../src/system/directories/volume-files.ts'
import { parseAmounts } from '../../src/model/resources/compute-pod-requests.ts'
import type { Volume } from '../../src/model/generated/core-v1.ts'
import { createEmptyDirectories } from '../../src/pods/volumes/usage/empty-directories.ts'
import { createConfigMapKind } from '../../src/pods/volumes/kinds/config-map.ts'
import { createDownwardApiKind } from '../../src/pods/volumes/kinds/downward-api.ts'
import { createEmptyDirKind } from '../../src/pods/volumes/kinds/empty-dir.ts'
import { createHostPathKind } from '../../src/pods/volumes/kinds/host-path.ts'
import { createProjectedKind } from '../../src/pods/volumes/kinds/projected.ts'
import { createSecretKind } from '../../src/pods/volumes/kinds/secret.ts'
import type { VolumeKind } from '../../src/pods/volumes/volume-kind.ts'
import type { DesiredVolume } from '../../src/pods/volumes/desired-volume.ts'
import { createContainer, createPod } from '../builders/create-pod.ts'
import { createDesiredVolume } from '../builders/create-desired-volume.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { setUmask } from '../fixtures/set-umask.ts'
import { inMountNamespace } from './in-mount-namespace.ts'

inMountNamespace(import.meta.filename, () => {
  const { signal } = new AbortController()
  const mounter = createMounter({ clock: systemClock })

  /** All kinds on the machine itself, in a root directory of their own. */
  async function createNode(t: TestContext) {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-kernel-')))
    const guarded = createGuardedFiles({ clock: systemClock, log: silentLogger, findLauncher: async () => [] })
    t.after(async () => {
      guarded[Symbol.dispose]()
      for (const point of mountPointsBelow(await readMountTable(), root))
        await mounter.unmount(point, { force: true }, signal)
      await rm(root, { recursive: true })
    })
    const objects = { configMap: { data: { key: 'old' } as Record<string, string> } }
    const nodeAllocatable = () => parseAmounts({ memory: '4Mi' })
    const volumeFiles = createVolumeFiles({ rootDirectory: root })
    const noswap = createNoswapProbe({
      mounter,
      volumeFiles,
      directory: join(root, 'noswap'),
      swapIsOn: false,
      events: { record: () => {} },
    })
    const directories = createEmptyDirectories({
      mounter,
      volumeFiles,
      guarded,
      noswap,
      nodeAllocatable,
      log: silentLogger,
    })
    const deps = {
      directories,
      writer: createAtomicWriter({ clock: systemClock, random: Math.random }),
      makeMountPoints,
      nodeAllocatable,
      content: {
        configMap: async () => objects.configMap,
        secret: async () => ({ data: { password: 'AP+A' } }),
        token: async () => ({ token: 'token', expiresAt: 0, lifeSeconds: 0 }),
      },
      clock: systemClock,
      log: silentLogger,
    }
    const kinds = {
      emptyDir: createEmptyDirKind({ directories }),
      configMap: createConfigMapKind(deps),
      secret: createSecretKind(deps),
      downwardAPI: createDownwardApiKind(deps),
      projected: createProjectedKind(deps),
      hostPath: createHostPathKind({ guarded }),
    }
    const desired = (
      kind: VolumeKind,
      volume: Omit<Volume, 'name'>,
      parts: Partial<DesiredVolume> = {},
    ): DesiredVolume => {
      const path = join(root, 'pods/u-1/volumes', kind.plugin.replaceAll('/', '~'), 'data')
      return createDesiredVolume(volume, { path, ...parts })
    }
    return { root, kinds, desired, objects, noswap }
  }

  /** Mode, owner and group, as ls shows them. */
  async function statOf(path: string): Promise<string> {
    const { mode, uid, gid } = await stat(path)
    return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`
  }

  const isGone = async (path: string) => (await lstat(path).catch(() => undefined)) === undefined

  describe('emptyDir', () => {
    test('on the disk: open to all or to a group, kept, removed with what is in it', async (t) => {
      setUmask(t, 0o022)
      const { root, kinds, desired } = await createNode(t)
      const volume = desired(kinds.emptyDir, { emptyDir: {} })
      await kinds.emptyDir.setUp(volume, signal)
      assert.equal(await statOf(volume.path), '777 0:0')
      assert.equal(await statOf(join(root, 'pods/u-1')), '750 0:0')
      await mkdir(join(volume.path, 'deep/er'), { recursive: true })
      await writeFile(join(volume.path, 'deep/er/file'), 'kept', { mode: 0o600 })
      await kinds.emptyDir.setUp({ ...volume, fsGroup: 2000 }, signal)
      assert.equal(await readFile(join(volume.path, 'deep/er/file'), 'utf8'), 'kept')
      assert.equal(await statOf(join(volume.path, 'deep/er/file')), '600 0:0')
      await kinds.emptyDir.tearDown(volume, signal)
      await kinds.emptyDir.tearDown(volume, signal)
      assert.equal(await isGone(volume.path), true)
      await kinds.emptyDir.setUp({ ...volume, fsGroup: 2000 }, signal)
      assert.equal(await statOf(volume.path), '2777 0:2000')
    })

    test('a directory whose marker is lost gets its group again, with what is in it', async (t) => {
      const { root, kinds, desired } = await createNode(t)
      const volume = desired(kinds.emptyDir, { emptyDir: {} }, { fsGroup: 2000 })
      await kinds.emptyDir.setUp(volume, signal)
      await writeFile(join(volume.path, 'file'), '', { mode: 0o600 })
      await rm(join(root, 'pods/u-1/plugins'), { recursive: true })
      await kinds.emptyDir.setUp(volume, signal)
      assert.equal(await statOf(join(volume.path, 'file')), '660 0:2000')
    })

    test('in memory: a tmpfs of the right size that never swaps where the kernel has that', async (t) => {
      const { kinds, desired, noswap } = await createNode(t)
      const volume = desired(kinds.emptyDir, { emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, { fsGroup: 2000 })
      await kinds.emptyDir.setUp(volume, signal)
      await writeFile(join(volume.path, 'file'), 'kept')
      await kinds.emptyDir.setUp(volume, signal)
      assert.equal(await readFile(join(volume.path, 'file'), 'utf8'), 'kept')
      const [entry, ...others] = await mountsAt(mounter, volume.path)
      assert.deepEqual(others, [])
      assert.deepEqual(
        ['size=1024k', 'noswap'].filter((option) => entry?.superOptions.includes(option)),
        (await noswap.supported(signal)) ? ['size=1024k', 'noswap'] : ['size=1024k'],
      )
      assert.equal(await statOf(volume.path), '3777 0:2000')
      await assert.rejects(writeFile(join(volume.path, 'big'), Buffer.alloc(2 ** 21)), { code: 'ENOSPC' })
      await kinds.emptyDir.tearDown(volume, signal)
      assert.deepEqual(await mountsAt(mounter, volume.path), [])
      assert.equal(await isGone(volume.path), true)
    })

    test('in memory without a limit: as much as the node has for pods', async (t) => {
      const { kinds, desired } = await createNode(t)
      const volume = desired(kinds.emptyDir, { emptyDir: { medium: 'Memory' } })
      await kinds.emptyDir.setUp(volume, signal)
      const [entry] = await mountsAt(mounter, volume.path)
      assert.ok(entry?.superOptions.includes('size=4096k'))
    })

    test('in huge pages: a hugetlbfs with their size', async (t) => {
      const { kinds, desired } = await createNode(t)
      const resources = { requests: { 'hugepages-2Mi': '2Mi' } }
      const pod = createPod({ spec: { containers: [createContainer({ resources })] } })
      const volume = desired(kinds.emptyDir, { emptyDir: { medium: 'HugePages' } }, { pod })
      await kinds.emptyDir.setUp(volume, signal)
      const [entry] = await mountsAt(mounter, volume.path)
      assert.deepEqual([entry?.fileSystem, entry?.superOptions.includes('pagesize=2M')], ['hugetlbfs', true])
      await kinds.emptyDir.tearDown(volume, signal)
      assert.equal(await isGone(volume.path), true)
    })

    test('what is mounted inside is unmounted, and nothing is deleted across it nor through a link', async (t) => {
      const { root, kinds, desired } = await createNode(t)
      const precious = join(root, 'precious')
      await mkdir(precious)
      await writeFile(join(precious, 'file'), 'x')
      const volume = desired(kinds.emptyDir, { emptyDir: {} })
      await kinds.emptyDir.setUp(volume, signal)
      await mkdir(join(volume.path, 'mounted'))
      await symlink(precious, join(volume.path, 'link'))
      await mounter.bind({ source: precious, target: join(volume.path, 'mounted'), options: [] }, signal)
      const inner = join(volume.path, 'mounted', 'inner')
      await mkdir(inner)
      await mounter.bind({ source: root, target: inner, options: [] }, signal)
      // What is mounted in a mount may belong to another program too: then neither goes.
      await assert.rejects(kinds.emptyDir.tearDown(volume, signal), /busy/)
      assert.equal(await readFile(join(precious, 'file'), 'utf8'), 'x')
      await mounter.unmount(inner, { force: false }, signal)
      await kinds.emptyDir.tearDown(volume, signal)
      assert.equal(await readFile(join(precious, 'file'), 'utf8'), 'x')
      assert.equal(await isGone(volume.path), true)
    })

    test('what a user mounted on the volume itself is unmounted, not emptied', async (t) => {
      const { root, kinds, desired } = await createNode(t)
      await writeFile(join(root, 'file'), 'x')
      const volume = desired(kinds.emptyDir, { emptyDir: {} })
      await kinds.emptyDir.setUp(volume, signal)
      await mounter.bind({ source: root, target: volume.path, options: [] }, signal)
      await kinds.emptyDir.tearDown(volume, signal)
      assert.equal(await readFile(join(root, 'file'), 'utf8'), 'x')
      assert.equal(await isGone(volume.path), true)
    })
  })

  describe('volumes with content', () => {
    test('a ConfigMap is on the disk, changes at once, and gets its group', async (t) => {
      const { root, kinds, desired, objects } = await createNode(t)
      const source = { configMap: { name: 'cfg', defaultMode: 0o400 } }
      const volume = desired(kinds.configMap, source, { fsGroup: 2000, nestedMountPoints: ['nested/x'] })
      await kinds.configMap.setUp(volume, signal)
      assert.deepEqual(await mountsAt(mounter, volume.path), [])
      assert.equal(await readFile(join(volume.path, 'key'), 'utf8'), 'old')
      assert.equal(await statOf(join(volume.path, 'key')), '440 0:2000')
      assert.equal(await statOf(`${volume.path}/..data/.`), '2755 0:2000')
      assert.deepEqual(await readdir(join(root, 'pods/u-1/plugins/kubernetes.io~empty-dir')), ['wrapped_data'])
      assert.ok((await lstat(join(volume.path, 'nested/x'))).isDirectory())
      const before = await readlink(join(volume.path, '..data'))
      await kinds.configMap.setUp(volume, signal)
      assert.equal(await readlink(join(volume.path, '..data')), before)
      objects.configMap = { data: { key: 'new', more: 'x' } }
      await kinds.configMap.setUp(volume, signal)
      assert.notEqual(await readlink(join(volume.path, '..data')), before)
      assert.equal(await readFile(join(volume.path, 'key'), 'utf8'), 'new')
      assert.equal(await statOf(join(volume.path, 'more')), '440 0:2000')
      await kinds.configMap.tearDown(volume, signal)
      assert.equal(await isGone(volume.path), true)
    })

    test('a Secret is in memory, byte by byte', async (t) => {
      const { kinds, desired } = await createNode(t)
      const volume = desired(kinds.secret, { secret: { secretName: 'sec', defaultMode: 0o400 } })
      await kinds.secret.setUp(volume, signal)
      assert.equal((await mountsAt(mounter, volume.path))[0]?.fileSystem, 'tmpfs')
      assert.deepEqual(await readFile(join(volume.path, 'password')), Buffer.of(0, 0xff, 0x80))
      assert.equal(await statOf(join(volume.path, 'password')), '400 0:0')
      await kinds.secret.tearDown(volume, signal)
      assert.equal(await isGone(volume.path), true)
    })

    const tokens: readonly (readonly [ids: Partial<DesiredVolume>, expected: string])[] = [
      [{}, '644 0:0'],
      [{ fsUser: 1000 }, '600 1000:0'],
      [{ fsGroup: 2000 }, '640 0:2000'],
      [{ fsUser: 1000, fsGroup: 2000 }, '640 1000:2000'],
    ]
    for (const [ids, expected] of tokens)
      test(`a token for ${JSON.stringify(ids)} is ${expected}`, async (t) => {
        const { kinds, desired } = await createNode(t)
        const sources = [{ serviceAccountToken: { path: 'dir/token' } }, { configMap: { name: 'cfg' } }]
        const volume = desired(kinds.projected, { projected: { defaultMode: 0o644, sources } }, ids)
        await kinds.projected.setUp(volume, signal)
        assert.equal(await statOf(join(volume.path, 'dir/token')), expected)
        assert.equal(await readFile(join(volume.path, 'dir/token'), 'utf8'), 'token')
        const group = ids.fsGroup ?? 0
        assert.equal(await statOf(join(volume.path, 'key')), `644 0:${group}`)
      })

    test('a pod reads about itself', async (t) => {
      const { kinds, desired } = await createNode(t)
      const items = [{ path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }]
      const pod = createPod({ metadata: { labels: { app: 'a "b"' } } })
      const volume = desired(kinds.downwardAPI, { downwardAPI: { defaultMode: 0o644, items } }, { pod })
      await kinds.downwardAPI.setUp(volume, signal)
      assert.equal(await readFile(join(volume.path, 'labels'), 'utf8'), 'app="a \\"b\\""')
    })

    test('a first write that fails takes the mount away again', async (t) => {
      const { kinds, desired } = await createNode(t)
      const items = [{ key: 'password', path: '../escape' }]
      const volume = desired(kinds.secret, { secret: { secretName: 'sec', defaultMode: 0o400, items } })
      await assert.rejects(kinds.secret.setUp(volume, signal), { name: 'PayloadError' })
      assert.deepEqual(await mountsAt(mounter, volume.path), [])
      assert.equal(await isGone(volume.path), true)
    })
  })

  test('hostPath checks the path, creates what it may, and never removes', async (t) => {
    const { root, kinds, desired } = await createNode(t)
    const path = join(root, 'host/dir')
    const volume = desired(kinds.hostPath, { hostPath: { path, type: 'DirectoryOrCreate' } })
    await kinds.hostPath.setUp(volume, signal)
    assert.equal(await statOf(path), '755 0:0')
    await kinds.hostPath.tearDown(volume, signal)
    assert.equal(await statOf(path), '755 0:0')
    const wrong = desired(kinds.hostPath, { hostPath: { path, type: 'File' } })
    await assert.rejects(kinds.hostPath.setUp(wrong, signal), /hostPath type check failed: .*host\/dir is not a file/)
  })
})
