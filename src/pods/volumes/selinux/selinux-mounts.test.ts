import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCsiAgent, createCsiVolume } from '../../../../test/builders/create-csi-agent.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { createSelinuxMounts } from '../../../../test/builders/create-selinux-mounts.ts'
import { DRIVER, FakeCsiNode } from '../../../../test/fakes/fake-csi-node.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { toSelinuxGates } from './selinux-mounts.ts'
import type { SelinuxMountsDeps } from './selinux-mounts.ts'

const LABEL = 'system_u:object_r:container_file_t:s0:c1,c2'
const OTHER = 'system_u:object_r:container_file_t:s0:c3,c4'
const NAME = `kubernetes.io/csi/${DRIVER}^vol`

function podWith(uid: string, level: string, securityContext: NonNullable<Pod['spec']['securityContext']> = {}): Pod {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }]
  return createPod({
    metadata: { uid: parsePodUid(uid) },
    spec: {
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'vol' } }],
      containers: [createContainer({ volumeMounts })],
      securityContext: { seLinuxOptions: { level }, ...securityContext },
    },
  })
}

const first = podWith('u-1', 's0:c1,c2')
const second = podWith('u-2', 's0:c3,c4')

interface Given {
  readonly canLabel?: boolean
  readonly accessModes?: readonly string[]
  readonly parts?: Partial<SelinuxMountsDeps>
  readonly node?: FakeCsiNode
}

async function setUp({ canLabel = true, accessModes = ['ReadWriteOncePod'], parts, node = new FakeCsiNode() }: Given) {
  node.traits = { ...node.traits, seLinuxMount: canLabel }
  const { selinux, counted } = createSelinuxMounts(parts)
  const volumes = new Map([['vol', createCsiVolume('vol', { accessModes, mountOptions: ['noatime'] })]])
  const agent = createCsiAgent(node, volumes, { selinux, selinuxEnabled: true })
  agent.putClaim('vol', '1Gi')
  await agent.volumes.adopt()
  return { ...agent, labels: counted }
}

const flagsOf = (node: FakeCsiNode) =>
  node.requests
    .splice(0)
    .map((request) => (request as { capability: { access: { mountFlags: string[] } } }).capability.access.mountFlags)

describe('toSelinuxGates()', () => {
  const rows = {
    SELinuxMountReadWriteOncePod: 'forOnePod',
    SELinuxMount: 'forAll',
    SELinuxChangePolicy: 'changePolicy',
  } as const
  const none = { forOnePod: false, forAll: false, changePolicy: false }
  for (const [gate, field] of Object.entries(rows))
    test(`${gate} alone`, () => {
      assert.deepEqual(toSelinuxGates({ enabled: (name) => name === gate }), { ...none, [field]: true })
    })
})

describe('a volume on a machine with SELinux', () => {
  test('is mounted with the label of its pod, which is recorded, and its files are left as they are', async () => {
    const { node, ensure, labels, mountsOf } = await setUp({})
    await ensure(first)
    const flags = ['noatime', `context="${LABEL}"`]
    assert.deepEqual(flagsOf(node), [flags, flags])
    assert.deepEqual(labels, [`admitted kubernetes.io/csi/${DRIVER} RWOP`])
    assert.deepEqual(
      [...node.notes.values()].map((text) => (JSON.parse(text) as Record<string, string>)['seLinuxMountContext']),
      [LABEL, LABEL],
    )
    const [container = createContainer()] = first.spec.containers
    const { mounts } = await mountsOf(container, first)
    assert.deepEqual(
      mounts.map(({ selinuxRelabel }) => selinuxRelabel),
      [false],
    )
  })

  const without: readonly (readonly [string, Given, Pod])[] = [
    ['its driver cannot', { canLabel: false }, first],
    ['its access mode lets pods share it', { accessModes: ['ReadWriteOnce'] }, first],
    ['the pod wants its files relabelled', {}, podWith('u-1', 's0:c1,c2', { seLinuxChangePolicy: 'Recursive' })],
    ['the machine has no SELinux', { parts: { fileContext: undefined } }, first],
    ['the pod names no level', {}, podWith('u-1', '')],
  ]
  for (const [why, given, pod] of without) {
    test(`is mounted without a label where ${why}`, async () => {
      const { node, ensure } = await setUp(given)
      await ensure(pod)
      assert.deepEqual(flagsOf(node), [['noatime'], ['noatime']])
      assert.ok([...node.notes.values()].every((text) => !text.includes('seLinux')))
    })
  }

  test('is mounted with a label for every access mode behind the gate SELinuxMount', async () => {
    const gates = { forOnePod: true, forAll: true, changePolicy: true }
    const { node, ensure, labels } = await setUp({ accessModes: ['ReadWriteMany'], parts: { gates } })
    await ensure(first)
    assert.deepEqual(flagsOf(node)[0], ['noatime', `context="${LABEL}"`])
    await assert.rejects(ensure(second), {
      name: 'VolumesError',
      message: `unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: conflicting SELinux labels of volume pv-vol: "${LABEL}" and "${OTHER}"`,
    })
    await ensure(podWith('u-3', 's0:c1,c2'))
    assert.deepEqual(labels, [`admitted kubernetes.io/csi/${DRIVER} RWX`, `volume kubernetes.io/csi/${DRIVER} RWX`])
  })

  test('may have pods with different labels where none is mounted; that is only counted', async () => {
    const { ensure, labels } = await setUp({ accessModes: ['ReadWriteOnce'] })
    await ensure(first)
    await ensure(second)
    assert.deepEqual(labels, [
      `admitted kubernetes.io/csi/${DRIVER} RWO ignored`,
      `volume kubernetes.io/csi/${DRIVER} RWO ignored`,
    ])
  })

  test('cannot start a pod whose containers disagree; it is counted for what is shared', async () => {
    const volumeMounts = [{ name: 'data', mountPath: '/data' }]
    const containers = ['s0:c1,c2', 's0:c3,c4'].map((level) =>
      createContainer({
        name: level.replaceAll(/\W/g, '-'),
        volumeMounts,
        securityContext: { seLinuxOptions: { level } },
      }),
    )
    const torn = createPod({ metadata: first.metadata, spec: { ...first.spec, containers } })
    const sole = await setUp({})
    await assert.rejects(sole.ensure(torn), /multiple SELinux labels found: /)
    assert.deepEqual(sole.labels, [`pod kubernetes.io/csi/${DRIVER} RWOP`])
    const shared = await setUp({ accessModes: ['ReadWriteOnce'] })
    await shared.ensure(torn)
    assert.deepEqual(shared.labels, [`pod kubernetes.io/csi/${DRIVER} RWO ignored`])
  })

  test('is staged again for the next pod with another label, also when it was not yet unstaged', async () => {
    const { node, ensure, release, clock } = await setUp({})
    await ensure(first)
    node.behaviours.set('NodeUnstageVolume', 'uncertain')
    await release('u-1')
    await clock.advance(0)
    node.behaviours.clear()
    node.take()
    node.requests.length = 0
    await ensure(second)
    assert.deepEqual(node.take(), ['NodeUnstageVolume vol', 'NodeStageVolume vol', 'NodePublishVolume vol u-2'])
    assert.deepEqual(flagsOf(node)[0], ['noatime', `context="${OTHER}"`])
    assert.deepEqual(node.broken, [])
  })

  test('is waited for while a pod with another label still has it', async () => {
    const { node, ensure, release, clock } = await setUp({})
    await ensure(first)
    node.behaviours.set('NodeUnpublishVolume', 'hangs')
    const leaving = release('u-1')
    await clock.advance(0)
    await assert.rejects(
      ensure(second),
      new RegExp(
        `waiting for unmount of volume "${RegExp.escape(NAME)}", because it is already mounted to a different pod`,
      ),
    )
    node.letGo()
    await leaving
    await clock.advance(0)
    await ensure(second)
    assert.equal(node.published.size, 1)
  })

  test('keeps after a restart the label that it has', async () => {
    const before = await setUp({})
    await before.ensure(first)
    before.shutdown.abort(new Error('killed'))
    await before.group.join()
    before.node.requests.length = 0
    const after = await setUp({
      node: before.node,
      parts: { gates: { forOnePod: true, forAll: true, changePolicy: false } },
    })
    await after.ensure(podWith('u-1', 's0:c3,c4'))
    assert.deepEqual(flagsOf(after.node), [
      ['noatime', `context="${LABEL}"`],
      ['noatime', `context="${LABEL}"`],
    ])
    assert.deepEqual(after.node.broken, [])
  })
})
