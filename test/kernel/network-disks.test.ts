import assert from 'node:assert/strict'
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import type { PersistentVolumeSpec } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { DesiredVolume } from '../../src/pods/volumes/desired-volume.ts'
import { createFcKind } from '../../src/pods/volumes/kinds/fc.ts'
import { createIscsiKind } from '../../src/pods/volumes/kinds/iscsi.ts'
import { deviceFiles } from '../../src/system/directories/device-files.ts'
import { createDiskFiles } from '../../src/system/directories/disk-files.ts'
import { createVolumeFiles } from '../../src/system/directories/volume-files.ts'
import { describePath } from '../../src/system/files/describe-path.ts'
import { createGuardedFiles } from '../../src/system/guarded/create-guarded-files.ts'
import { createBlockDevices } from '../../src/system/mounts/block-devices.ts'
import { readMountTable } from '../../src/system/mounts/mount-table.ts'
import { createMounter } from '../../src/system/mounts/mounter.ts'
import { runProcess, runProcessOrThrow } from '../../src/system/processes/run-process.ts'
import { createIscsiAdmin } from '../../src/system/scsi/iscsi-admin.ts'
import { createScsiDevices } from '../../src/system/scsi/scsi-devices.ts'
import { createPod } from '../builders/create-pod.ts'
import { until } from '../fakes/until.ts'
import { inMountNamespace } from './in-mount-namespace.ts'

const IQN = 'iqn.2026-01.test:disk'
const PORTAL = '127.0.0.1:3260'
const LINK = `ip-${PORTAL}-iscsi-${IQN}-lun-0`

/** In place of iscsiadm: notes each call, and a login shows a session where the kernel would, and the disk where udev would. */
const ISCSIADM = `#!/bin/sh
echo "$*" >> "$SAN/calls"
session="$SAN/sys/class/iscsi_host/host3/device/session1"
case "$*" in
  *"-o show") echo "iface.transport_name = tcp" ;;
  *--login)
    mkdir -p "$session/iscsi_session/session1" "$session/connection1:0/iscsi_connection/connection1:0" "$session/target3:0:0/3:0:0:0/block/loopx"
    echo ${IQN} > "$session/iscsi_session/session1/targetname"
    cd "$session/connection1:0/iscsi_connection/connection1:0"
    echo 127.0.0.1 | tee address > persistent_address
    echo 3260 | tee port > persistent_port
    mkdir -p "$SAN/sys/class/scsi_host/host3"
    : > "$SAN/sys/class/scsi_host/host3/scan"
    ln -s "$DISK" "$SAN/dev/disk/by-path/${LINK}" ;;
  *--logout) rm -r "$SAN/sys/class/iscsi_host/host3" ; rm "$SAN/dev/disk/by-path/${LINK}" ;;
esac
`

inMountNamespace(import.meta.filename, () => {
  const { signal } = new AbortController()
  const run = async (...argv: readonly string[]) =>
    (await runProcessOrThrow(systemClock, { argv, deadlineMs: 20_000 }, signal)).stdout.trim()

  /** A disk of 32 MB. */
  async function createDisk(t: TestContext, folder: string): Promise<string> {
    const image = join(folder, 'disk.img')
    await using file = await open(image, 'w')
    await file.truncate(32 * 1024 * 1024)
    const device = await run('losetup', '--find', '--show', image)
    t.after(() => run('losetup', '--detach', device))
    return device
  }

  async function createNode(t: TestContext) {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-san-')))
    const [rootDirectory, san, bin] = ['kubelet', 'san', 'bin'].map((name) => join(folder, name))
    for (const path of [`${san}/dev/disk/by-path`, `${san}/sys/block`, bin ?? ''])
      await mkdir(path, { recursive: true })
    const files = createGuardedFiles({ clock: systemClock, log: silentLogger, findLauncher: async () => [] })
    t.after(async () => {
      files[Symbol.dispose]()
      await rm(folder, { recursive: true })
    })
    const disk = await createDisk(t, folder)
    await writeFile(`${bin}/iscsiadm`, ISCSIADM)
    await chmod(`${bin}/iscsiadm`, 0o755)
    const environment = { PATH: `${bin}:${process.env['PATH']}`, SAN: san, DISK: disk }
    const withStandIns: typeof runProcess = (clock, request, s) => runProcess(clock, { ...request, environment }, s)
    const shutdown = new AbortController()
    const group = new TaskGroup(shutdown.signal)
    t.after(async () => {
      shutdown.abort(new Error('over'))
      await group.join()
    })
    const deps = { clock: systemClock, log: silentLogger, run: withStandIns }
    const kindDeps = {
      ...deps,
      rootDirectory: rootDirectory ?? '',
      mounter: createMounter({ clock: systemClock }),
      volumeFiles: createVolumeFiles({ rootDirectory: rootDirectory ?? '' }),
      guarded: files,
      devices: createBlockDevices({ clock: systemClock, log: silentLogger }),
      deviceFiles,
      diskFiles: createDiskFiles({ rootDirectory: rootDirectory ?? '' }),
      describePath: (path: string, s: AbortSignal) => describePath(systemClock, path, s),
      attachments: { isInUse: () => true, isAttached: () => true, changed: async () => {} },
      controllerAttaches: false,
      onInUse: () => {},
      events: { record: () => {} },
      group,
      objects: { driverSecret: async () => ({}) },
      admin: createIscsiAdmin(deps),
      scsi: createScsiDevices({ ...deps, root: san ?? '' }),
    }
    const volumeOf = (uid: string, spec: PersistentVolumeSpec, parts: Partial<DesiredVolume> = {}): DesiredVolume => {
      const use = spec.volumeMode === 'Block' ? 'volumeDevices' : 'volumes'
      const plugin = spec.fc === undefined ? 'kubernetes.io~iscsi' : 'kubernetes.io~fc'
      return {
        uid: parsePodUid(uid),
        specName: 'pv',
        path: join(rootDirectory ?? '', 'pods', uid, use, plugin, 'pv'),
        pod: createPod({ metadata: { uid } }),
        name: 'data',
        source: { kind: 'persistent', volume: { metadata: { name: 'pv' }, spec }, claim: undefined },
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
    const calls = async () => (await readFile(`${san}/calls`, 'utf8')).trim().split('\n')
    return { san, disk, kindDeps, volumeOf, mounted, calls, group }
  }

  const iscsi = { targetPortal: '127.0.0.1', iqn: IQN, lun: 0 }

  describe('disks of a network on a real kernel, with a stand-in for iscsiadm', () => {
    test('an iSCSI disk is attached, formatted, mounted, shared and taken down; data outlives its pods', async (t) => {
      const { kindDeps, volumeOf, mounted, calls, san, group } = await createNode(t)
      const kind = createIscsiKind(kindDeps)
      await kind.adopt([], signal)
      const [first, second] = [volumeOf('u-1', { iscsi }, { fsGroup: 4321 }), volumeOf('u-2', { iscsi })]
      await Promise.all([kind.setUp(first, signal), kind.setUp(second, signal)])
      await writeFile(join(first.path, 'precious'), 'data')
      assert.equal((await stat(first.path)).gid, 4321)
      assert.equal(await readFile(join(second.path, 'precious'), 'utf8'), 'data')
      assert.equal((await calls()).filter((call) => call.endsWith('--login')).length, 1)
      assert.equal(await readFile(`${san}/sys/class/scsi_host/host3/scan`, 'utf8'), '0 0 0')
      await kind.tearDown(first, signal)
      await kind.tearDown(second, signal)
      await until(() => group.size === 0)
      assert.deepEqual(await mounted(), [])
      assert.deepEqual((await calls()).slice(-2), [
        `-m node -p ${PORTAL} -T ${IQN} -I default --logout`,
        `-m node -p ${PORTAL} -T ${IQN} -I default -o delete`,
      ])
      assert.deepEqual(
        await readdir(dirname(kindDeps.diskFiles.staging('kubernetes.io/iscsi', 'files', 'iface-default/x'))),
        [],
      )

      const reader = volumeOf('u-3', { iscsi: { ...iscsi, readOnly: true } }, { readOnly: true })
      await kind.setUp(reader, signal)
      assert.equal(await readFile(join(reader.path, 'precious'), 'utf8'), 'data')
      await assert.rejects(writeFile(join(reader.path, 'more'), ''), { code: 'EROFS' })
      await kind.tearDown(reader, signal)
      await until(() => group.size === 0)
      assert.deepEqual(await mounted(), [])
    })

    test('the next agent finds it by its folder and by what is mounted', async (t) => {
      const { kindDeps, volumeOf, mounted, calls, group } = await createNode(t)
      const before = createIscsiKind(kindDeps)
      await before.adopt([], signal)
      const desired = volumeOf('u-1', { iscsi })
      await before.setUp(desired, signal)
      const after = createIscsiKind(kindDeps)
      await after.adopt([desired], signal)
      after.releaseUnused()
      await until(() => group.size === 0)
      assert.equal((await mounted()).length, 2, 'a pod uses it')
      await after.tearDown(desired, signal)
      await until(() => group.size === 0)
      assert.deepEqual(await mounted(), [])
      assert.ok((await calls()).some((call) => call.endsWith('--logout')))
    })

    test('a bare device is held open for its pod, and found again', async (t) => {
      const { kindDeps, volumeOf, mounted, disk, group } = await createNode(t)
      const before = createIscsiKind(kindDeps)
      await before.adopt([], signal)
      const desired = volumeOf('u-1', { iscsi, volumeMode: 'Block' })
      assert.deepEqual(await before.setUp(desired, signal), { kind: 'device', hostPath: disk, permissions: 'mrw' })
      const after = createIscsiKind(kindDeps)
      await after.adopt([desired], signal)
      await after.tearDown(desired, signal)
      await until(() => group.size === 0)
      assert.deepEqual(await mounted(), [])
      assert.deepEqual(await kindDeps.diskFiles.list('kubernetes.io/iscsi', 2), [])
    })

    test('a disk of Fibre Channel is found by its link, and only ever unmounted', async (t) => {
      const { kindDeps, volumeOf, mounted, disk, san, group } = await createNode(t)
      await symlink(disk, `${san}/dev/disk/by-path/pci-0000:00:01.0-fc-0x50060e801049cfd1-lun-2`)
      const kind = createFcKind(kindDeps)
      await kind.adopt([], signal)
      const desired = volumeOf('u-1', { fc: { targetWWNs: ['50060e801049cfd1'], lun: 2 } })
      await kind.setUp(desired, signal)
      await writeFile(join(desired.path, 'precious'), 'data')
      await kind.tearDown(desired, signal)
      await until(() => group.size === 0)
      assert.deepEqual(await mounted(), [])
      assert.deepEqual(await kindDeps.devices.probe(disk, signal), { kind: 'fileSystem', type: 'ext4' })
    })
  })
})
