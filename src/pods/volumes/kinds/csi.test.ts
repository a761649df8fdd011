import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCsiAgent, createCsiVolume } from '../../../../test/builders/create-csi-agent.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { createVolumePod } from '../../../../test/builders/create-volumes.ts'
import { DRIVER, FakeCsiNode, ROOT } from '../../../../test/fakes/fake-csi-node.ts'
import type { CsiDriverTraits } from '../../../protocols/csi/csi-driver-objects.ts'
import type { CsiStageRequest } from '../../../protocols/csi/csi-drivers.ts'
import type { PersistentVolumeSpec, PodSecurityContext, Volume } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { sha256 } from '../csi/csi-names.ts'

const STAGING = `${ROOT}/plugins/kubernetes.io/csi/${DRIVER}/${sha256('vol')}/globalmount`
const NAME = `kubernetes.io/csi/${DRIVER}^vol`
const claimed: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'vol' } }
const target = (uid: string, name = 'pv-vol') => `${ROOT}/pods/${uid}/volumes/kubernetes.io~csi/${name}/mount`

function podWith(uid: string, volume: Volume = claimed, securityContext: PodSecurityContext = {}): Pod {
  const pod = createVolumePod(['data'], { uid, volumes: [volume] })
  return { ...pod, spec: { ...pod.spec, securityContext } }
}

/** A node with one driver, on which nothing is yet. */
async function setUp(traits: Partial<CsiDriverTraits> = {}, spec: Partial<PersistentVolumeSpec> = {}) {
  const node = new FakeCsiNode()
  node.traits = { ...node.traits, ...traits }
  const agent = createCsiAgent(node, new Map([['vol', createCsiVolume('vol', spec)]]))
  await agent.volumes.adopt()
  agent.putClaim('vol', '1Gi')
  return agent
}

describe('a persistent volume of a CSI driver', () => {
  test('is staged once for all pods, published for each, and unstaged after the last', async () => {
    const { node, ensure, release, kind, clock, assertClean } = await setUp()
    await ensure(podWith('u-1'))
    await ensure(podWith('u-2'))
    assert.deepEqual(node.take(), ['NodeStageVolume vol', 'NodePublishVolume vol u-1', 'NodePublishVolume vol u-2'])
    assert.deepEqual([...node.staged.keys(), ...node.published.keys()], [STAGING, target('u-1'), target('u-2')])
    assert.equal(
      node.notes.get(`${ROOT}/plugins/kubernetes.io/csi/${DRIVER}/${sha256('vol')}`),
      `{"driverName":"${DRIVER}","volumeHandle":"vol"}\n`,
    )
    await release('u-1')
    assert.deepEqual(node.take(), ['NodeUnpublishVolume vol u-1'])
    await release('u-2')
    await clock.advance(0)
    assert.deepEqual(node.take(), ['NodeUnpublishVolume vol u-2', 'NodeUnstageVolume vol'])
    assert.deepEqual([node.leftovers, [...node.directories], kind.inUse()], [[], [], []])
    assertClean()
  })

  test('its driver gets what objects and secrets say', async () => {
    const agent = await setUp(
      {
        attachRequired: true,
        podInfoOnMount: true,
        tokenRequests: [{ audience: 'vault', expirationSeconds: undefined }],
      },
      {
        mountOptions: ['noatime'],
        csi: {
          driver: DRIVER,
          volumeHandle: 'vol',
          fsType: 'ext4',
          volumeAttributes: { pool: 'p' },
          nodeStageSecretRef: { namespace: 'kube', name: 'stage' },
          nodePublishSecretRef: { namespace: 'kube', name: 'publish' },
        },
      },
    )
    const { node, api, ensure } = agent
    for (const name of ['stage', 'publish'])
      api.put('Secret', { metadata: { namespace: 'kube', name }, data: { key: Buffer.from(name).toString('base64') } })
    await ensure(podWith('u-1'))
    const common = {
      volumeId: 'vol',
      isMigrated: false,
      stagingPath: STAGING,
      publishContext: { lun: '1' },
      capability: {
        accessMode: 'SINGLE_NODE_WRITER',
        access: { kind: 'mount', fsType: 'ext4', mountFlags: ['noatime'], group: undefined },
      },
    }
    assert.deepEqual(node.requests, [
      { ...common, secrets: { key: 'stage' }, volumeContext: { pool: 'p' } },
      {
        ...common,
        targetPath: target('u-1'),
        readOnly: false,
        secrets: { key: 'publish' },
        volumeContext: {
          pool: 'p',
          'csi.storage.k8s.io/pod.name': 'web',
          'csi.storage.k8s.io/pod.namespace': 'shop',
          'csi.storage.k8s.io/pod.uid': 'u-1',
          'csi.storage.k8s.io/serviceAccount.name': '',
          'csi.storage.k8s.io/ephemeral': 'false',
          'csi.storage.k8s.io/serviceAccount.tokens':
            '{"vault":{"token":"token-1","expirationTimestamp":"2026-01-01T01:00:00Z"}}',
        },
      },
    ])
  })

  test('a secret that is missing holds up one pod, and is reported', async () => {
    const { node, events, ensure, clock } = await setUp(
      {},
      { csi: { driver: DRIVER, volumeHandle: 'vol', nodeStageSecretRef: { namespace: 'kube', name: 'none' } } },
    )
    const late = assert.rejects(ensure(podWith('u-1')), /context deadline exceeded/)
    await clock.advance(130_000)
    await late
    assert.deepEqual(node.journal, [])
    assert.deepEqual(
      new Set(events),
      new Set([
        'Warning FailedMount MountVolume.MountDevice failed for volume "pv-vol" : fetching NodeStageSecretRef kube/none failed: secrets "none" not found',
        'Warning FailedMount Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
      ]),
    )
  })

  test('without staging there is nothing on the node but what pods have', async () => {
    const { node, ensure, release, clock } = await setUp()
    node.capabilities = new Set()
    await ensure(podWith('u-1'))
    assert.equal((node.requests[0] as Partial<CsiStageRequest>).stagingPath, undefined)
    await release('u-1')
    await clock.advance(0)
    assert.deepEqual(node.take(), ['NodePublishVolume vol u-1', 'NodeUnpublishVolume vol u-1'])
    assert.deepEqual([...node.directories], [])
  })

  test('read-only, as files: as the claim in the pod says, or the volume itself', async () => {
    for (const [volume, spec] of [
      [{ ...claimed, persistentVolumeClaim: { claimName: 'vol', readOnly: true } }, {}],
      [claimed, { csi: { driver: DRIVER, volumeHandle: 'vol', readOnly: true } }],
    ] as const) {
      const { node, ensure, mountsOf, owned } = await setUp({ fsGroupPolicy: 'File' }, spec)
      const container = createContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })
      const pod = podWith('u-1', volume, { fsGroup: 7 })
      await ensure(pod)
      const { mounts } = await mountsOf(container, pod)
      assert.deepEqual(
        [node.requests.map((one) => 'readOnly' in one && one.readOnly), mounts[0]?.readOnly],
        [[false, true], true],
      )
      assert.deepEqual([mounts[0]?.hostPath, owned], [target('u-1'), []])
    }
  })

  test('is given to the group of its pod, by the driver where that can', async () => {
    const first = await setUp({ fsGroupPolicy: 'File' })
    await first.ensure(podWith('u-1', claimed, { fsGroup: 7, fsGroupChangePolicy: 'OnRootMismatch' }))
    await first.ensure(podWith('u-2', claimed, { fsGroup: 7 }))
    assert.deepEqual(first.owned, [`${target('u-1')} 7 true`, `${target('u-2')} 7 false`])
    const second = await setUp({ fsGroupPolicy: 'File' })
    second.node.capabilities.add('VOLUME_MOUNT_GROUP')
    await second.ensure(podWith('u-1', claimed, { fsGroup: 7 }))
    const groups = (second.node.requests as readonly CsiStageRequest[]).map(({ capability }) => capability.access)
    assert.deepEqual([groups.map((access) => access.kind === 'mount' && access.group), second.owned], [[7, 7], []])
  })
})

describe('attaching', () => {
  test('is waited for without an event: first the cluster knows of the use, then it is attached, then it is staged', async () => {
    const { node, ensure, steps, events, clock, volumes } = await setUp({ attachRequired: true })
    const report = node.report.bind(node)
    node.report = () => {}
    const done = ensure(podWith('u-1'))
    await clock.advance(0)
    assert.deepEqual(steps.at(-1), 'wait for volume "data" to be reported as in use in the status of this node')
    node.inUse = [NAME]
    node.attachment = { name: 'x', isAttached: false, metadata: {}, error: 'no such disk', isExhausted: false }
    node.announce()
    await clock.advance(0)
    assert.deepEqual(steps.at(-1), 'wait for volume "data" to be attached to this node by the cluster: no such disk')
    assert.deepEqual([node.journal, events, volumes.counts()[0]?.actual], [[], [], 1])
    report([NAME])
    await done
    assert.deepEqual(node.take(), ['NodeStageVolume vol', 'NodePublishVolume vol u-1'])
  })

  test('a change is not missed while its attachment is asked for', async () => {
    const { node, ensure } = await setUp({ attachRequired: true })
    const report = node.report.bind(node)
    node.report = () => {}
    node.driverObjects.findAttachment = async () => {
      report([NAME])
      return node.attachment
    }
    await ensure(podWith('u-1'))
    assert.deepEqual(node.take(), ['NodeStageVolume vol', 'NodePublishVolume vol u-1'])
  })

  test('that never comes leaves the volume unattached in the report', async () => {
    const { node, ensure, release, clock } = await setUp({ attachRequired: true })
    node.report = () => {}
    const late = assert.rejects(ensure(podWith('u-1')), {
      message:
        'unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded',
    })
    await clock.advance(130_000)
    await late
    await release('u-1')
    assert.deepEqual(node.journal, [])
  })

  test('is no longer waited for when the driver stops asking for it', async () => {
    const { node, ensure, clock } = await setUp({ attachRequired: true })
    node.report = () => {}
    const done = ensure(podWith('u-1'))
    await clock.advance(0)
    node.traits = { ...node.traits, attachRequired: false }
    node.announce()
    await done
    assert.deepEqual(node.take(), ['NodeStageVolume vol', 'NodePublishVolume vol u-1'])
  })

  test('an attachment that says otherwise is reported and tried again', async () => {
    const { node, ensure, events, clock } = await setUp({ attachRequired: true })
    node.report = () => {}
    Object.assign(node, { inUse: [NAME], attached: [NAME], attachment: undefined })
    const done = ensure(podWith('u-1'))
    await clock.advance(0)
    assert.match(
      events[0] ?? '',
      /^Warning FailedMount MountVolume.WaitForAttach failed for volume "pv-vol" : volume vol has no volume attachment csi-/,
    )
    node.attachment = { name: 'x', isAttached: true, metadata: {}, error: undefined, isExhausted: false }
    await clock.advance(500)
    await done
  })

  test('that fails because the node is full ends the pod, when the driver says how many it can have', async () => {
    for (const [seconds, expected] of [
      [60, [`${DRIVER} too many`]],
      [undefined, []],
    ] as const) {
      const { node, ensure, exceeded, clock } = await setUp({ attachRequired: true, allocatableUpdateSeconds: seconds })
      node.report = () => {}
      node.attachment = { name: 'x', isAttached: false, metadata: {}, error: 'too many', isExhausted: true }
      const given = new AbortController()
      const late = assert.rejects(ensure(podWith('u-1'), given.signal))
      await clock.advance(0)
      given.abort(new Error('enough'))
      await late
      assert.deepEqual(exceeded, expected)
    }
  })

  test('volumes are in use from before they are staged until they are unstaged, over a restart of the agent too', async () => {
    const first = await setUp({ attachRequired: true })
    const { node } = first
    await first.ensure(podWith('u-1'))
    first.shutdown.abort(new Error('crash'))
    await first.group.join()
    const second = createCsiAgent(node)
    assert.equal(second.kind.inUse(), undefined)
    await second.volumes.adopt()
    assert.deepEqual(second.kind.inUse(), [NAME])
    node.behaviours.set('NodeUnstageVolume', 'final')
    await second.release('u-1')
    await second.clock.advance(10_000)
    assert.deepEqual(second.kind.inUse(), [NAME])
    node.behaviours.set('NodeUnstageVolume', 'good')
    await second.clock.advance(130_000)
    assert.deepEqual([second.kind.inUse(), node.broken], [[], []])
  })
})

describe('failures', () => {
  test('a driver that is not there is reported, and tried again as soon as it is', async () => {
    const { node, ensure, release, volumes, kind, events, steps, clock } = await setUp()
    node.isRegistered = false
    const done = ensure(podWith('u-1'))
    await clock.advance(60_000)
    const missing = `driver name ${DRIVER} not found in the list of registered CSI drivers`
    assert.deepEqual(events, [`Warning FailedMount MountVolume.MountDevice failed for volume "pv-vol" : ${missing}`])
    assert.equal(steps.at(-1), `wait to mount volume "data" again: ${missing}`)
    node.isRegistered = true
    volumes.retry(kind.plugin)
    await done
    node.isRegistered = false
    const gone = release('u-1')
    await clock.advance(60_000)
    assert.equal(steps.at(-1), `wait to unmount volume "data" again: ${missing}`)
    node.isRegistered = true
    volumes.retry(kind.plugin)
    await gone
    await clock.advance(0)
    assert.deepEqual(node.leftovers, [])
  })

  test('a stage that certainly failed leaves nothing; one that may have worked is undone', async () => {
    for (const [behaviour, left, calls] of [
      ['final', 0, ['NodeStageVolume vol']],
      ['lost', 2, ['NodeStageVolume vol', 'NodeUnstageVolume vol']],
    ] as const) {
      const { node, ensure, release, events, clock } = await setUp()
      node.behaviours.set('NodeStageVolume', behaviour)
      const given = new AbortController()
      const late = assert.rejects(ensure(podWith('u-1'), given.signal))
      await clock.advance(0)
      assert.equal(node.leftovers.length, left)
      const code = behaviour === 'final' ? 'Internal' : 'DeadlineExceeded'
      assert.deepEqual(events, [
        `Warning FailedMount MountVolume.MountDevice failed for volume "pv-vol" : rpc error: code = ${code} desc = no`,
      ])
      given.abort(new Error('enough'))
      await late
      await release('u-1')
      await clock.advance(0)
      assert.deepEqual([node.take(), node.leftovers], [calls, []])
    }
  })

  test('a publish that certainly failed leaves nothing for the pod; one that may have worked is undone', async () => {
    for (const [behaviour, notes, calls] of [
      ['final', 1, ['NodeUnstageVolume vol']],
      ['uncertain', 2, ['NodeUnpublishVolume vol u-1', 'NodeUnstageVolume vol']],
    ] as const) {
      const { node, ensure, release, clock } = await setUp()
      node.behaviours.set('NodePublishVolume', behaviour)
      const given = new AbortController()
      const late = assert.rejects(ensure(podWith('u-1'), given.signal))
      await clock.advance(0)
      assert.equal(node.notes.size, notes)
      given.abort(new Error('enough'))
      await late
      node.take()
      await release('u-1')
      await clock.advance(0)
      assert.deepEqual([node.take(), node.leftovers], [calls, []])
    }
  })

  test('what was found after a restart stays, whatever its driver says', async () => {
    const first = await setUp()
    const { node } = first
    await first.ensure(podWith('u-1'))
    first.shutdown.abort(new Error('crash'))
    await first.group.join()
    const second = createCsiAgent(node)
    await second.volumes.adopt()
    for (const call of ['NodeStageVolume', 'NodePublishVolume'] as const) {
      node.behaviours.set(call, 'final')
      second.keep(podWith('u-1'))
      await second.clock.advance(130_000)
      assert.deepEqual([node.notes.size, node.staged.size, node.published.size], [2, 1, 1], call)
      node.behaviours.set(call, 'good')
    }
  })

  test('a call that hangs holds up the pods of its volume and no other', async () => {
    const { node, ensure, release, clock } = await setUp()
    node.behaviours.set('NodeUnpublishVolume', 'hangs')
    await ensure(podWith('u-1'))
    const held = release('u-1')
    await clock.advance(0)
    await ensure(podWith('u-2'))
    node.letGo()
    await held
    assert.deepEqual([...node.published.keys()], [target('u-2')])
  })

  test('a driver that leaves a mount behind is asked again', async () => {
    const { node, ensure, release, steps, clock } = await setUp()
    await ensure(podWith('u-1'))
    const unpublish = node.driver.unpublish.bind(node.driver)
    node.driver.unpublish = async () => {}
    const done = release('u-1')
    await clock.advance(60_000)
    assert.match(steps.at(-1) ?? '', /wait to unmount .*the driver has left something mounted there/)
    node.driver.unpublish = unpublish
    await clock.advance(130_000)
    await done
  })

  test('with a note that makes no sense a volume is only unmounted, and the note is set aside', async () => {
    const { node, ensure, release } = await setUp()
    await ensure(podWith('u-1'))
    const directory = target('u-1').replace(/\/mount$/, '')
    node.notes.set(directory, '{}')
    node.take()
    await release('u-1')
    assert.deepEqual([node.take(), node.published.size], [['NodeUnstageVolume vol'], 0])
    assert.deepEqual([...node.notesAside], [[directory, '{}']])
  })
})

describe('an update', () => {
  test('publishes again with new tokens only where the driver wants that, and a failure leaves what is there', async () => {
    const { node, ensure, keep, clock } = await setUp({ requiresRepublish: true })
    const pod = podWith('u-1')
    await ensure(pod)
    node.take()
    await clock.advance(60_000)
    keep(pod)
    await clock.advance(0)
    assert.deepEqual(node.take(), ['NodePublishVolume vol u-1'])
    node.behaviours.set('NodePublishVolume', 'final')
    await clock.advance(60_000)
    keep(pod)
    await clock.advance(0)
    assert.deepEqual([node.take(), node.published.size, node.notes.size], [['NodePublishVolume vol u-1'], 1, 2])
    node.traits = { ...node.traits, requiresRepublish: false }
    await clock.advance(60_000)
    keep(pod)
    await clock.advance(0)
    assert.deepEqual(node.take(), [])
  })
})

describe('a volume that is written down in its pod', () => {
  const inline: Volume = { name: 'data', csi: { driver: DRIVER, volumeAttributes: { size: '1' }, readOnly: true } }

  test('has a handle of its own, is not staged, and never attached', async () => {
    const { node, ensure, release, kind } = await setUp({ attachRequired: true, lifecycleModes: ['Ephemeral'] })
    await ensure(podWith('u-1', inline))
    const handle = `csi-${sha256('u-1data')}`
    assert.deepEqual(node.take(), [`NodePublishVolume ${handle} u-1`])
    assert.match(
      node.notes.get(target('u-1', 'data').replace(/\/mount$/, '')) ?? '',
      /"volumeLifecycleMode":"Ephemeral"/,
    )
    assert.deepEqual(kind.inUse(), [])
    await release('u-1')
    assert.deepEqual([node.take(), node.leftovers], [[`NodeUnpublishVolume ${handle} u-1`], []])
  })

  test('must be one that its driver is for', async () => {
    const { node, ensure, events, clock } = await setUp()
    const given = new AbortController()
    const late = assert.rejects(ensure(podWith('u-1', inline), given.signal))
    await clock.advance(0)
    given.abort(new Error('enough'))
    await late
    assert.deepEqual(events, [
      `Warning FailedMount MountVolume.SetUp failed for volume "data" : volume mode "Ephemeral" not supported by driver ${DRIVER} (only supports ["Persistent"])`,
    ])
    assert.deepEqual(node.journal, [])
  })

  test('says so where there is no such driver at all', async () => {
    const { node, ensure, events, clock } = await setUp()
    node.isRegistered = false
    const given = new AbortController()
    const late = assert.rejects(ensure(podWith('u-1', inline), given.signal))
    await clock.advance(0)
    given.abort(new Error('enough'))
    await late
    assert.deepEqual(events, [
      `Warning FailedMount MountVolume.SetUp failed for volume "data" : volume mode "Ephemeral" not supported by driver ${DRIVER} (only supports ["Persistent"]), and no such driver is registered`,
    ])
    assert.deepEqual(node.journal, [])
  })
})

describe('a block device of a CSI driver', () => {
  const devices = `${ROOT}/plugins/kubernetes.io/csi/volumeDevices`
  const pod = createPod({
    spec: {
      volumes: [claimed],
      containers: [createContainer({ volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] })],
    },
  })

  test('is staged, published, bound, held and linked at the places of the Go kubelet; all of it goes', async () => {
    const { node, ensure, release, clock, mountsOf, events } = await setUp({}, { volumeMode: 'Block' })
    await ensure(pod)
    assert.deepEqual(node.take(), ['NodeStageVolume vol', 'NodePublishVolume vol u-1'])
    assert.deepEqual(
      [[...node.staged.keys()], [...node.published.keys()], [...node.links], [...node.held], [...node.notes]],
      [
        [`${devices}/staging/pv-vol`],
        [`${devices}/publish/pv-vol/u-1`],
        [[`${ROOT}/pods/u-1/volumeDevices/kubernetes.io~csi/pv-vol`, `${devices}/publish/pv-vol/u-1`]],
        [`${devices}/pv-vol/dev/u-1`],
        [
          [
            `${devices}/pv-vol/data`,
            `{"attachmentID":"csi-${sha256(`vol${DRIVER}node-1`)}","driverName":"${DRIVER}","nodeName":"node-1","specVolID":"pv-vol","volumeHandle":"vol"}\n`,
          ],
        ],
      ],
    )
    const [container] = pod.spec.containers
    assert.deepEqual((await mountsOf(container ?? createContainer(), pod)).devices, [
      { containerPath: '/dev/x', hostPath: `${devices}/publish/pv-vol/u-1`, permissions: 'mrw' },
    ])
    assert.deepEqual(events, [
      `Normal SuccessfulMountVolume MapVolume.MapPodDevice succeeded for volume "pv-vol" globalMapPath "${devices}/pv-vol/dev"`,
      `Normal SuccessfulMountVolume MapVolume.MapPodDevice succeeded for volume "pv-vol" volumeMapPath "/root/pods/u-1/volumeDevices/kubernetes.io~csi"`,
    ])
    await release('u-1')
    await clock.advance(0)
    assert.deepEqual(node.take(), ['NodeUnpublishVolume vol u-1', 'NodeUnstageVolume vol'])
    assert.deepEqual([node.leftovers, [...node.directories], [...node.bound]], [[], [], []])
  })

  test('goes by its note after a restart, also when it was never published', async () => {
    const first = await setUp({}, { volumeMode: 'Block' })
    const { node } = first
    node.behaviours.set('NodePublishVolume', 'hangs')
    const given = first.ensure(pod).catch(() => {})
    await first.clock.advance(0)
    first.shutdown.abort(new Error('crash'))
    await Promise.all([given, first.group.join()])
    const second = createCsiAgent(node)
    await second.volumes.adopt()
    node.take()
    await second.release('u-1')
    await second.clock.advance(0)
    assert.deepEqual([node.take(), node.leftovers], [['NodeUnpublishVolume vol u-1', 'NodeUnstageVolume vol'], []])
  })

  test('failures have the words of devices', async () => {
    const { node, ensure, events, clock } = await setUp({}, { volumeMode: 'Block' })
    node.behaviours.set('NodeStageVolume', 'final')
    const given = new AbortController()
    const late = assert.rejects(ensure(pod, given.signal))
    await clock.advance(0)
    given.abort(new Error('enough'))
    await late
    assert.deepEqual(events, [
      'Warning FailedMapVolume MapVolume.SetUpDevice failed for volume "pv-vol" : rpc error: code = Internal desc = no',
    ])
    assert.deepEqual([...node.notes.keys()], [])
  })
})
