import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { listProvisionedFolders, makeProvisionedFolder } from '../../../src/system/directories/provisioned-folders.ts'
import { createGuardedFiles } from '../../../src/system/guarded/create-guarded-files.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const PROVISIONER = 'deckhand.local/folder'

async function setUp(t: TestContext, storageClass: object = {}) {
  const root = `${makeTemporaryFolder()}/volumes`
  const guarded = createGuardedFiles({ clock: systemClock, log: silentLogger, findLauncher: async () => [] })
  t.after(() => guarded[Symbol.dispose]())
  const failing = { make: false }
  const folders = {
    root,
    make: (name: string) =>
      failing.make ? Promise.reject(new Error('disk is full')) : makeProvisionedFolder(root, name),
    remove: (name: string, signal: AbortSignal) => guarded.removeTree(`${root}/${name}`, signal),
    list: () => listProvisionedFolders(root),
  }
  const world = await createWorkloadWorld(t, { parts: { folders }, hasScheduler: true })
  await world.create('nodes', {
    metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'node-1' } },
    status: { allocatable: { cpu: '8', memory: '8Gi', pods: '100' }, conditions: [{ type: 'Ready', status: 'True' }] },
  })
  await world.create('storageclasses', {
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: PROVISIONER,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
    ...storageClass,
  })
  return { world, root, failing }
}

const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})
const pod = (name: string, claimName: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    ...spec,
  },
})
const untilPhase = (world: WorkloadWorld, plural: string, name: string, phase: string): Promise<AnyObject> =>
  world.until(
    `${name} to be ${phase}`,
    () => world.get(plural, name),
    (object) => object?.status?.phase === phase,
  )
const untilGone = (world: WorkloadWorld, plural: string, name: string) =>
  world.until(
    `${name} to be gone`,
    () => world.get(plural, name),
    (object) => object === undefined,
  )
const untilEvent = (world: WorkloadWorld, reason: string) =>
  world.until(
    reason,
    () => world.events(reason),
    (all) => all.length > 0,
  )

describe('storage of a standalone node', { timeout: 120_000 }, () => {
  test('a claim waits for its first pod, gets a folder that outlives pods, and both go with the claim', async (t) => {
    const { world, root } = await setUp(t)
    const made = await world.create('persistentvolumeclaims', claim('data'))
    assert.equal(made.spec.storageClassName, 'standard')
    assert.deepEqual(await untilEvent(world, 'WaitForFirstConsumer'), [
      'waiting for first consumer to be created before binding',
    ])
    assert.equal((await world.get('persistentvolumeclaims', 'data')).status.phase, 'Pending')
    await world.create('pods', pod('db', 'data'))
    await untilPhase(world, 'pods', 'db', 'Running')
    const bound = await untilPhase(world, 'persistentvolumeclaims', 'data', 'Bound')
    const name = `pvc-${bound.metadata.uid}`
    assert.equal(bound.spec.volumeName, name)
    const { annotations } = bound.metadata
    assert.equal(annotations['volume.kubernetes.io/selected-node'], 'node-1')
    assert.equal(annotations['volume.kubernetes.io/storage-provisioner'], PROVISIONER)
    assert.equal(annotations['pv.kubernetes.io/bind-completed'], 'yes')
    const volume = await world.get('persistentvolumes', name)
    assert.equal(volume.metadata.annotations['pv.kubernetes.io/bound-by-controller'], undefined)
    assert.equal(volume.spec.local.path, `${root}/${name}`)
    assert.deepEqual(await untilEvent(world, 'ProvisioningSucceeded'), [`Successfully provisioned volume ${name}`])
    assert.match((await world.events('ExternalProvisioning'))[0] ?? '', /external provisioner 'deckhand.local\/folder'/)
    // What a pod wrote, a way out of the folder among it.
    const outside = makeTemporaryFolder()
    writeFileSync(`${outside}/precious`, 'x')
    writeFileSync(`${root}/${name}/rows`, 'x')
    symlinkSync(outside, `${root}/${name}/link`)
    world.endsPods = false
    await world.remove('persistentvolumeclaims', 'data')
    assert.ok((await world.get('persistentvolumeclaims', 'data')).metadata.deletionTimestamp)
    await world.remove('pods', 'db', { gracePeriodSeconds: 0 })
    await untilGone(world, 'persistentvolumeclaims', 'data')
    await untilGone(world, 'persistentvolumes', name)
    assert.deepEqual(await listProvisionedFolders(root), [])
    assert.equal(readFileSync(`${outside}/precious`, 'utf8'), 'x')
  })

  test('at once where the class says so; kept where it says so; a new claim of the name gets a new folder', async (t) => {
    const { world, root } = await setUp(t, { volumeBindingMode: 'Immediate', reclaimPolicy: 'Retain' })
    await world.create('persistentvolumeclaims', claim('data', { accessModes: ['ReadWriteMany'] }))
    const first = (await untilPhase(world, 'persistentvolumeclaims', 'data', 'Bound')).spec.volumeName
    await world.remove('persistentvolumeclaims', 'data')
    const released = await untilPhase(world, 'persistentvolumes', first, 'Released')
    assert.deepEqual(released.metadata.finalizers, ['kubernetes.io/pv-protection'])
    await world.create('persistentvolumeclaims', claim('data'))
    const second = (await untilPhase(world, 'persistentvolumeclaims', 'data', 'Bound')).spec.volumeName
    assert.notEqual(second, first)
    await world.remove('persistentvolumes', first)
    await untilGone(world, 'persistentvolumes', first)
    assert.deepEqual(new Set(await listProvisionedFolders(root)), new Set([first, second]))
  })

  test('a volume that is deleted before its claim keeps its data until the claim is gone, and no longer', async (t) => {
    const { world, root } = await setUp(t, { volumeBindingMode: 'Immediate' })
    await world.create('persistentvolumeclaims', claim('data'))
    const name = (await untilPhase(world, 'persistentvolumeclaims', 'data', 'Bound')).spec.volumeName
    await world.remove('persistentvolumes', name)
    await world.restart()
    assert.ok((await world.get('persistentvolumes', name)).metadata.deletionTimestamp)
    assert.ok(existsSync(`${root}/${name}`))
    await world.remove('persistentvolumeclaims', 'data')
    await untilGone(world, 'persistentvolumes', name)
    assert.ok(!existsSync(`${root}/${name}`))
  })

  test('a folder that is no folder of ours is not removed, whatever a volume says', async (t) => {
    const { world, root } = await setUp(t)
    const outside = makeTemporaryFolder()
    writeFileSync(`${outside}/precious`, 'x')
    mkdirSync(root)
    symlinkSync(outside, `${root}/linked`)
    const volume = (name: string, path: string) => ({
      metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { namespace: 'default', name: 'gone', uid: 'gone' },
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] } },
      },
    })
    await world.create('persistentvolumes', volume('evil', outside))
    await world.create('persistentvolumes', volume('linked', `${root}/linked`))
    for (const name of ['evil', 'linked']) await untilPhase(world, 'persistentvolumes', name, 'Failed')
    assert.equal(readFileSync(`${outside}/precious`, 'utf8'), 'x')
    assert.match((await untilEvent(world, 'VolumeFailedDelete')).join('\n'), /is not the folder of this volume/)
  })

  test('a folder that cannot be made is tried again; the claim says why until then', async (t) => {
    const { world, failing } = await setUp(t, { volumeBindingMode: 'Immediate' })
    failing.make = true
    await world.create('persistentvolumeclaims', claim('data'))
    assert.match((await untilEvent(world, 'ProvisioningFailed'))[0] ?? '', /StorageClass "standard": disk is full/)
    failing.make = false
    await untilPhase(world, 'persistentvolumeclaims', 'data', 'Bound')
    await world.create('persistentvolumeclaims', claim('raw', { volumeMode: 'Block' }))
    await world.until(
      'the refusal',
      () => world.events('ProvisioningFailed'),
      (all) => all.some((message) => message.includes('cannot be a block device')),
    )
  })

  test('grows where its class allows it, never shrinks', async (t) => {
    const { world } = await setUp(t, { volumeBindingMode: 'Immediate' })
    const size = (storage: string) => ({ spec: { resources: { requests: { storage } } } })
    await world.create('storageclasses', {
      metadata: { name: 'fixed' },
      provisioner: PROVISIONER,
      volumeBindingMode: 'Immediate',
    })
    await world.create('persistentvolumeclaims', claim('data'))
    await world.create('persistentvolumeclaims', claim('fixed', { storageClassName: 'fixed' }))
    for (const name of ['data', 'fixed']) await untilPhase(world, 'persistentvolumeclaims', name, 'Bound')
    await assert.rejects(world.patch('persistentvolumeclaims', 'fixed', size('2Gi')), /403: .*must support resize/)
    await world.patch('persistentvolumeclaims', 'data', size('2Gi'))
    const grown = await world.until(
      'the new size',
      () => world.get('persistentvolumeclaims', 'data'),
      ({ status }) => status.capacity.storage === '2Gi',
    )
    assert.deepEqual(
      [grown.status.conditions, grown.status.allocatedResourceStatuses, grown.status.allocatedResources],
      [undefined, undefined, { storage: '2Gi' }],
    )
    assert.equal((await world.get('persistentvolumes', grown.spec.volumeName)).spec.capacity.storage, '2Gi')
    assert.equal((await untilEvent(world, 'VolumeResizeSuccessful')).length, 1)
    await assert.rejects(
      world.patch('persistentvolumeclaims', 'data', size('1Gi')),
      /422: .*field can not be less than status.capacity/,
    )
  })

  test('claims that came before the default class get it; those that want none do not', async (t) => {
    const { world } = await setUp(t, { metadata: { name: 'other' }, volumeBindingMode: 'Immediate' })
    await world.create('persistentvolumeclaims', claim('early'))
    await world.create('persistentvolumeclaims', claim('none', { storageClassName: '' }))
    assert.match((await untilEvent(world, 'FailedBinding'))[0] ?? '', /no storage class is set/)
    await world.patch('storageclasses', 'other', {
      metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    })
    await untilPhase(world, 'persistentvolumeclaims', 'early', 'Bound')
    const none = await world.get('persistentvolumeclaims', 'none')
    assert.deepEqual([none.spec.storageClassName, none.status.phase], ['', 'Pending'])
  })

  test('a pod that was put on the node by hand, and an ephemeral volume, get theirs too', async (t) => {
    const { world, root } = await setUp(t)
    await world.create('persistentvolumeclaims', claim('data'))
    await world.create('pods', pod('hand', 'data', { nodeName: 'node-1' }))
    await untilPhase(world, 'persistentvolumeclaims', 'data', 'Bound')
    const { spec } = claim('')
    const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }]
    await world.create('pods', pod('temp', '', { volumes }))
    await untilPhase(world, 'pods', 'temp', 'Running')
    const own = await untilPhase(world, 'persistentvolumeclaims', 'temp-scratch', 'Bound')
    assert.equal(own.metadata.ownerReferences[0].kind, 'Pod')
    await world.remove('pods', 'temp')
    await untilGone(world, 'persistentvolumes', own.spec.volumeName)
    assert.equal((await listProvisionedFolders(root)).length, 1)
  })

  test('controllers that are killed at any moment make one volume for each claim', async (t) => {
    const { world, root } = await setUp(t, { volumeBindingMode: 'Immediate' })
    for (const name of ['a', 'b', 'c', 'd']) {
      await world.create('persistentvolumeclaims', claim(name))
      await world.restart()
    }
    for (const name of ['a', 'b', 'c', 'd']) await untilPhase(world, 'persistentvolumeclaims', name, 'Bound')
    assert.equal((await world.list('persistentvolumes')).length, 4)
    assert.equal((await listProvisionedFolders(root)).length, 4)
  })

  test('a volume that people made is used before one is made, when its class waits for pods too', async (t) => {
    const { world, root } = await setUp(t)
    await world.create('persistentvolumes', {
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'standard',
        hostPath: { path: '/disk' },
      },
    })
    await world.create('persistentvolumeclaims', claim('data'))
    await untilEvent(world, 'WaitForFirstConsumer')
    assert.equal((await world.get('persistentvolumes', 'disk')).status.phase, 'Available')
    await world.create('pods', pod('db', 'data'))
    await untilPhase(world, 'pods', 'db', 'Running')
    assert.equal((await world.get('persistentvolumeclaims', 'data')).spec.volumeName, 'disk')
    assert.deepEqual(await listProvisionedFolders(root), [])
  })
})
