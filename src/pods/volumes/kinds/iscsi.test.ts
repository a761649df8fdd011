import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDiskAgent, settled, whilePassing } from '../../../../test/builders/create-disk-agent.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { createSelinuxMounts } from '../../../../test/builders/create-selinux-mounts.ts'
import { until } from '../../../../test/fakes/until.ts'
import { FakeSan, IQN } from '../../../../test/fakes/fake-san.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import type { ISCSIPersistentVolumeSource, PersistentVolumeSpec } from '../../../model/generated/core-v1.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'

const [P1, P2] = ['192.0.2.1:3260', '192.0.2.2:3260']
const NAME = `kubernetes.io/iscsi/192.0.2.1:${IQN}:0`
const staging = (lun: number) => `/k/plugins/kubernetes.io/iscsi/iface-default/${P1}-${IQN}-lun-${lun}`
const GLOBAL = staging(0)
const MAPS = `/k/plugins/kubernetes.io/iscsi/volumeDevices/iface-default/${P1}-${IQN}-lun-0`
const link = (portal: string, lun = 0) => `by-path/ip-${portal}-iscsi-${IQN}-lun-${lun}`
const pathOf = (uid: string, name = 'vol') => `/k/pods/${uid}/volumes/kubernetes.io~iscsi/${name}`

const specWith = (parts: Partial<ISCSIPersistentVolumeSource> = {}, spec: PersistentVolumeSpec = {}) => ({
  iscsi: { targetPortal: '192.0.2.1', iqn: IQN, lun: 0, ...parts },
  accessModes: ['ReadWriteOnce'],
  ...spec,
})

function podWith(uid: string, claimName = 'vol', parts: Partial<Pod['spec']> = {}): Pod {
  const used = parts.containers ?? [createContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })]
  return createPod({
    metadata: { uid: parsePodUid(uid) },
    spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }], ...parts, containers: [...used] },
  })
}

const asDevice = { containers: [createContainer({ volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] })] }

/** A target with two blank disks; nothing of it has been seen by the node. */
function createSan(): FakeSan {
  const san = new FakeSan()
  san.hidden.set(link(P1), '/dev/sda')
  san.hidden.set(link(P1, 1), '/dev/sdb')
  for (const device of ['/dev/sda', '/dev/sdb', '/dev/dm-0']) san.disks.contents.set(device, { kind: 'blank' })
  return san
}

const MOUNTED = [
  `discover ${P1} default`,
  `login ${P1} ${IQN} default`,
  'scan host0 0',
  'format /dev/sda ext4',
  `mkdir ${GLOBAL} 750`,
  `mount ext4 /dev/sda ${GLOBAL}`,
  `mkdir ${pathOf('u-1')} 750`,
  `bind ${GLOBAL} ${pathOf('u-1')}`,
]

describe('an iSCSI volume', () => {
  test('is logged in to, formatted when blank, mounted and bound; its last pod logs out, and nothing stays', async () => {
    const agent = createDiskAgent({ vol: specWith() }, { san: createSan() })
    const { san, ensure, release, assertClean, volumes } = agent
    await volumes.adopt()
    await ensure(podWith('u-1'))
    assert.deepEqual(san.take(), MOUNTED)
    assert.deepEqual(JSON.parse(san.records.get(`${GLOBAL}/iscsi.json`) ?? ''), {
      VolName: 'vol',
      Portals: [P1],
      Iqn: IQN,
      Lun: '0',
      InitIface: 'default',
      Iface: 'default',
      InitiatorName: '',
      MetricsProvider: null,
    })
    await ensure(podWith('u-2'))
    assert.deepEqual(san.take(), [`mkdir ${pathOf('u-2')} 750`, `bind ${GLOBAL} ${pathOf('u-2')}`])
    await release('u-1')
    await settled(agent)
    assert.deepEqual(san.take(), [`unmount ${pathOf('u-1')}`, `rmdir ${pathOf('u-1')}`])
    await release('u-2')
    await settled(agent)
    assert.deepEqual(san.take(), [
      `unmount ${pathOf('u-2')}`,
      `rmdir ${pathOf('u-2')}`,
      `unmount ${GLOBAL}`,
      'delete sda',
      `logout ${P1} ${IQN} default`,
    ])
    assert.deepEqual([san.records.size, san.folders.size, san.places.size], [0, 0, 0])
    assertClean()
  })

  test('in a pod itself is the same, under the name of the pod', async () => {
    const { san, ensure, volumes } = createDiskAgent({}, { san: createSan() })
    await volumes.adopt()
    const volumeOf = { name: 'data', iscsi: { targetPortal: P1, iqn: IQN, lun: 1, fsType: 'xfs', readOnly: false } }
    await ensure(podWith('u-1', 'vol', { volumes: [volumeOf] }))
    assert.deepEqual(san.take().slice(3), [
      'format /dev/sdb xfs',
      `mkdir ${staging(1)} 750`,
      `mount xfs /dev/sdb ${staging(1)}`,
      `mkdir ${pathOf('u-1', 'data')} 750`,
      `bind ${staging(1)} ${pathOf('u-1', 'data')}`,
    ])
  })

  test('that is read-only is mounted so, is never formatted, and is not given to one that writes', async () => {
    const claims = { vol: specWith({ readOnly: true }, { mountOptions: ['noatime'] }), same: specWith() }
    const { san, ensure, volumes, events } = createDiskAgent(claims, { san: createSan() })
    await volumes.adopt()
    san.disks.contents.set('/dev/sda', { kind: 'fileSystem', type: 'xfs' })
    await ensure(podWith('u-1'))
    assert.deepEqual(san.take().slice(-3), [
      `mount xfs /dev/sda ${GLOBAL} noatime,ro`,
      `mkdir ${pathOf('u-1')} 750`,
      `bind ${GLOBAL} ${pathOf('u-1')} ro`,
    ])
    const giveUp = new AbortController()
    void ensure(podWith('u-2', 'same'), giveUp.signal).catch(() => {})
    await until(() => events.length > 0)
    giveUp.abort(new Error('enough'))
    assert.match(events.join(), /Cannot use volume "data" for writing: another pod has its disk mounted read-only/)
  })

  test('with another file system than is asked for is an event of the pod and of the volume', async () => {
    const { san, ensure, volumes, events } = createDiskAgent(
      { vol: specWith({ fsType: 'ext4' }) },
      { san: createSan() },
    )
    await volumes.adopt()
    san.disks.contents.set('/dev/sda', { kind: 'fileSystem', type: 'xfs' })
    san.disks.failures.set('mount', new MountError('wrong fs type', { uncertain: false }))
    const giveUp = new AbortController()
    void ensure(podWith('u-1'), giveUp.signal).catch(() => {})
    await until(() => events.length > 1)
    giveUp.abort(new Error('enough'))
    const why = 'wrong fs type; the volume asks for ext4, but the device has xfs'
    assert.deepEqual(events, [
      `Warning FailedMount MountVolume.MountDevice failed for volume "vol" : ${why}`,
      `Warning FailedMountOnFilesystemMismatch MountVolume failed for volume "vol" ${why} (PersistentVolume vol)`,
    ])
  })

  test('uses CHAP where it is asked for, with the secret of its namespace', async () => {
    const iscsi = { chapAuthDiscovery: true, chapAuthSession: true, secretRef: { name: 'chap' } }
    const { san, ensure, volumes } = createDiskAgent({ vol: specWith(iscsi) }, { san: createSan() })
    await volumes.adopt()
    await ensure(podWith('u-1'))
    const secret = '{"node.session.auth.username":"me"}'
    assert.deepEqual(san.secrets, [`discover ${secret}`, `login ${secret}`])
  })

  test('with an initiator name has an interface of its own, which goes with it', async () => {
    const iscsi = { initiatorName: 'iqn.2026-01.test:me' }
    const agent = createDiskAgent({ vol: specWith(iscsi) }, { san: createSan() })
    const { san, ensure, release, volumes } = agent
    await volumes.adopt()
    await ensure(podWith('u-1'))
    const iface = `${P1}:vol`
    assert.deepEqual(san.take().slice(0, 3), [
      `iface ${iface} iface.transport_name=tcp,iface.initiatorname=iqn.2026-01.test:me`,
      `discover ${P1} ${iface}`,
      `login ${P1} ${IQN} ${iface}`,
    ])
    await release('u-1')
    await settled(agent)
    assert.deepEqual(san.take().slice(-2), [`logout ${P1} ${IQN} ${iface}`, `remove iface ${iface}`])
  })

  test('with several portals is used through the device that joins its paths, all of which are left', async () => {
    const san = createSan()
    san.portals.add(P2)
    san.hidden.set(link(P2), '/dev/sdc')
    san.joined.set('/dev/dm-0', ['sda', 'sdc'])
    const agent = createDiskAgent({ vol: specWith({ portals: ['192.0.2.2'] }) }, { san })
    const { ensure, release, volumes } = agent
    await volumes.adopt()
    await ensure(podWith('u-1'))
    assert.ok(san.take().includes(`mount ext4 /dev/dm-0 ${GLOBAL}`))
    assert.equal(san.sessions.size, 2)
    await release('u-1')
    await settled(agent)
    assert.deepEqual(san.take().slice(3), [
      'multipath -f /dev/dm-0',
      'delete sda',
      'delete sdc',
      `logout ${P1} ${IQN} default`,
      `logout ${P2} ${IQN} default`,
    ])
  })

  test('with a portal that is away is used through the other one, after some tries', async () => {
    const { san, ensure, volumes, clock } = createDiskAgent({ vol: specWith({ portals: [P2] }) }, { san: createSan() })
    await volumes.adopt()
    await whilePassing(clock, ensure(podWith('u-1')))
    assert.equal(san.take().filter((line) => line.startsWith(`discover ${P2}`)).length, 5)
  })

  test('of a target that does not answer is reported, and tried again without harm to others', async () => {
    const san = createSan()
    san.hung.add(P2)
    const claims = {
      dead: specWith({ targetPortal: P2, iqn: 'iqn.2026-01.test:dead' }),
      vol: specWith(),
      none: specWith({ targetPortal: '192.0.2.9' }),
    }
    const agent = createDiskAgent(claims, { san })
    const { ensure, events, volumes, clock, release, steps } = agent
    await volumes.adopt()
    const dead = assert.rejects(ensure(podWith('u-1', 'dead')), /VolumesError: unmounted volumes=\[data\]/)
    await ensure(podWith('u-2'))
    assert.ok(steps.includes('attach the disk of volume "data" (kubernetes.io/iscsi)'))
    const none = assert.rejects(ensure(podWith('u-3', 'none')), /VolumesError/)
    await whilePassing(clock, Promise.all([dead, none]))
    assert.ok(
      events.includes(
        'Warning FailedMount MountVolume.WaitForAttach failed for volume "none" : failed to get any path for iscsi disk, last err seen:\n192.0.2.9:3260 does not answer',
      ),
    )
    await release('u-1')
    await release('u-3')
    await settled(agent)
    assert.deepEqual([...san.records.keys()], [`${GLOBAL}/iscsi.json`], 'what was begun is undone')
  })

  test('stays logged in while another disk of the target is here', async () => {
    const claims = { vol: specWith(), other: specWith({ lun: 1 }) }
    const agent = createDiskAgent(claims, { san: createSan() })
    const { san, ensure, release, volumes } = agent
    await volumes.adopt()
    await ensure(podWith('u-1'))
    await ensure(podWith('u-2', 'other'))
    san.take()
    await release('u-1')
    await settled(agent)
    assert.deepEqual(san.take().slice(2), [`unmount ${GLOBAL}`, 'delete sda'])
    await release('u-2')
    await settled(agent)
    assert.deepEqual(san.take().slice(3), ['delete sdb', `logout ${P1} ${IQN} default`])
  })

  test('that cannot be taken from the node holds up no pod, and is tried until it works', async () => {
    const agent = createDiskAgent({ vol: specWith() }, { san: createSan() })
    const { san, ensure, release, clock, volumes, iscsi } = agent
    await volumes.adopt()
    await ensure(podWith('u-1'))
    san.failures.set('logout', new Error('no'))
    await release('u-1')
    await settled(agent)
    assert.deepEqual([iscsi.inUse(), san.records.size], [[], 1], 'no controller asks whether it is in use')
    san.failures.clear()
    await clock.advance(1000)
    await settled(agent)
    assert.deepEqual([iscsi.inUse(), san.records.size], [[], 0])
  })

  test('is waited for until the cluster lets this node have it', async () => {
    const { san, ensure, volumes, iscsi, attach, steps } = createDiskAgent(
      { vol: specWith() },
      { san: createSan(), kind: { controllerAttaches: true } },
    )
    await volumes.adopt()
    const ensuring = ensure(podWith('u-1'))
    await until(() => steps.length > 1)
    assert.deepEqual([san.take(), iscsi.inUse()], [[], [NAME]])
    assert.equal(steps.at(-1), 'wait for volume "data" to be attached to this node by the cluster')
    attach(NAME)
    await ensuring
    assert.deepEqual(san.take(), MOUNTED)
  })

  test('is found by the next agent: a pod keeps it, what no pod has goes', async () => {
    const claims = { vol: specWith({ portals: [P2] }), other: specWith({ lun: 1 }) }
    const san = createSan()
    san.portals.add(P2)
    san.hidden.set(link(P2), '/dev/sdc')
    const before = createDiskAgent(claims, { san })
    await before.volumes.adopt()
    await whilePassing(before.clock, before.ensure(podWith('u-1')))
    await before.ensure(podWith('u-2', 'other'))
    await before.kill()
    san.take()
    const after = createDiskAgent(claims, { san, kind: { controllerAttaches: true } })
    await after.volumes.adopt()
    assert.deepEqual(after.iscsi.inUse(), [`kubernetes.io/iscsi/${P1}:${IQN}:0`, `kubernetes.io/iscsi/${P1}:${IQN}:1`])
    after.attach(NAME)
    await after.ensure(podWith('u-1'))
    assert.deepEqual(san.take(), [])
    assert.ok(after.iscsi.inUse()?.includes(NAME), 'under the name that the cluster has for it')
    await after.release('u-2')
    await settled(after)
    assert.deepEqual(san.take(), [
      `unmount ${pathOf('u-2', 'other')}`,
      `rmdir ${pathOf('u-2', 'other')}`,
      `unmount ${staging(1)}`,
      'delete sdb',
    ])
    await after.release('u-1')
    await settled(after)
    assert.deepEqual(san.take().slice(-2), [`logout ${P1} ${IQN} default`, `logout ${P2} ${IQN} default`])
  })

  test('that was being attached when the agent died goes when no pod wants it', async () => {
    const san = createSan()
    san.hung.add(P1)
    const before = createDiskAgent({ vol: specWith() }, { san })
    await before.volumes.adopt()
    void before.ensure(podWith('u-1'), before.shutdown.signal).catch(() => {})
    await until(() => san.journal.length > 0)
    await before.kill()
    assert.equal(san.records.size, 1)
    const after = createDiskAgent({}, { san })
    await after.volumes.adopt()
    after.iscsi.releaseUnused()
    await settled(after)
    assert.deepEqual([san.take().at(-1), san.records.size, san.folders.size], [`logout ${P1} ${IQN} default`, 0, 0])
  })

  test('that is used as a device is bound and held for each pod, also over a restart, and logged out of after the last', async () => {
    const claims = { vol: specWith({}, { volumeMode: 'Block' }) }
    const before = createDiskAgent(claims, { san: createSan() })
    const { san } = before
    await before.volumes.adopt()
    const pod = podWith('u-1', 'vol', asDevice)
    await before.ensure(pod)
    assert.deepEqual(san.take().slice(3), [
      `link /k/pods/u-1/volumeDevices/kubernetes.io~iscsi/vol /dev/sda`,
      `touch ${MAPS}/u-1`,
      `bind /dev/sda ${MAPS}/u-1`,
      `hold ${MAPS}/u-1`,
    ])
    const [container = createContainer()] = pod.spec.containers
    assert.deepEqual((await before.mountsOf(container, pod)).devices, [
      { containerPath: '/dev/x', hostPath: '/dev/sda', permissions: 'mrw' },
    ])
    await before.kill()
    const after = createDiskAgent(claims, { san })
    await after.volumes.adopt()
    await after.ensure(pod)
    await after.release('u-1')
    await settled(after)
    assert.deepEqual(san.take().slice(-7), [
      `release ${MAPS}/u-1`,
      `unmount ${MAPS}/u-1`,
      `unlink ${MAPS}/u-1`,
      `rmdir ${MAPS}`,
      `unlink /k/pods/u-1/volumeDevices/kubernetes.io~iscsi/vol`,
      'delete sda',
      `logout ${P1} ${IQN} default`,
    ])
    assert.deepEqual([san.records.size, san.places.size, san.sessions.size], [0, 0, 0])
  })

  test('as a device of a pod that ended while no agent ran is freed by what the kernel has bound', async () => {
    const claims = { vol: specWith({}, { volumeMode: 'Block' }) }
    const before = createDiskAgent(claims, { san: createSan() })
    await before.volumes.adopt()
    await before.ensure(podWith('u-1', 'vol', asDevice))
    await before.kill()
    const after = createDiskAgent({}, { san: before.san })
    await after.volumes.adopt()
    await after.release('u-1')
    await settled(after)
    assert.deepEqual([after.san.records.size, after.san.places.size, after.san.sessions.size], [0, 0, 0])
  })

  test('is mounted with the SELinux label of a pod that has it alone', async () => {
    const { selinux } = createSelinuxMounts()
    const { san, ensure, volumes, mountsOf } = createDiskAgent(
      { vol: specWith({}, { accessModes: ['ReadWriteOncePod'] }) },
      { san: createSan(), parts: { selinux, selinuxEnabled: true } },
    )
    await volumes.adopt()
    const pod = podWith('u-1', 'vol', { securityContext: { seLinuxOptions: { level: 's0:c1,c2' } } })
    await ensure(pod)
    const label = 'system_u:object_r:container_file_t:s0:c1,c2'
    assert.ok(san.take().includes(`mount ext4 /dev/sda ${GLOBAL} context="${label}"`))
    const [container = createContainer()] = pod.spec.containers
    assert.equal((await mountsOf(container, pod)).mounts[0]?.selinuxRelabel, false)
  })
})
