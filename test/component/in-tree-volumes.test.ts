import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { AbortScope } from '../../src/base/async/abort-scope.ts'
import type { PersistentVolumeSpec, Volume } from '../../src/model/generated/core-v1.ts'
import { createVolumePod } from '../builders/create-volumes.ts'
import type { FakeCsiCall, FakeCsiDriver } from '../fakes/fake-csi-driver.ts'
import { until } from '../fakes/until.ts'
import { createCsiWorld } from './create-csi-world.ts'

const never = new AbortController().signal

type World = Awaited<ReturnType<typeof createCsiWorld>>

const claimed: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'vol' } }
const podWith = (volume: Volume) => createVolumePod(['data'], { volumes: [volume] })

function putClaim({ api }: World, spec: PersistentVolumeSpec, labels: Readonly<Record<string, string>> = {}): void {
  const { namespace } = podWith(claimed).metadata
  const claimRef = { namespace, uid: 'claim' }
  api.put('PersistentVolume', { metadata: { name: 'pv-1', labels }, spec: { ...spec, claimRef } })
  api.put('PersistentVolumeClaim', {
    metadata: { namespace, name: 'vol', uid: 'claim' },
    spec: { volumeName: 'pv-1' },
    status: { phase: 'Bound', capacity: {} },
  })
}

/** What the attach controller of the cluster does for a volume that the node has in use. */
async function attach(
  { ask, setNode }: World,
  { driver, handle }: { readonly driver: string; readonly handle: string },
) {
  const name = `csi-${createHash('sha256').update(`${handle}${driver}node-1`).digest('hex')}`
  const spec = { attacher: driver, nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } }
  const path = '/apis/storage.k8s.io/v1/volumeattachments'
  assert.equal((await ask('POST', path, { body: { metadata: { name }, spec } })).status, 201)
  const found = (await ask('GET', `${path}/${name}`)).body as object
  const status = { attached: true, attachmentMetadata: { devicePath: '/dev/xvdba' } }
  assert.equal((await ask('PUT', `${path}/${name}/status`, { body: { ...found, status } })).status, 200)
  setNode({ 'topology.ebs.csi.aws.com/zone': 'us-east-1a' }, [`kubernetes.io/csi/${driver}^${handle}`])
}

const requestsOf = (driver: FakeCsiDriver) => driver.calls.filter(({ method }) => !/Get/.test(method))
const methodsOf = (driver: FakeCsiDriver) => requestsOf(driver).map(({ method }) => method)
const requestOf = (driver: FakeCsiDriver, method: FakeCsiCall['method']) =>
  requestsOf(driver).find((call) => call.method === method)?.request

test('a persistent volume of an old kind is attached, staged and published by its CSI driver, and taken down after a restart', async (t) => {
  const driver = 'ebs.csi.aws.com'
  const world = await createCsiWorld(t, { driver, attachRequired: true })
  putClaim(
    world,
    {
      awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-0a1', fsType: 'xfs', partition: 1 },
      accessModes: ['ReadWriteOnce'],
      mountOptions: ['noatime'],
    },
    { 'topology.kubernetes.io/zone': 'us-east-1a' },
  )
  const ebs = await world.startDriver()
  world.setNode({ 'topology.ebs.csi.aws.com/zone': 'us-east-1a' }, [])
  let isThere = false
  const ensuring = world.ensure(podWith(claimed)).then(() => (isThere = true))
  await world.passes(() => world.kind.inUse()?.length === 1)
  assert.deepEqual(world.kind.inUse(), [`kubernetes.io/csi/${driver}^vol-0a1`])
  assert.deepEqual(methodsOf(ebs), [], 'nothing is called before the cluster has attached it')
  await attach(world, { driver, handle: 'vol-0a1' })
  await world.passes(() => isThere)
  await ensuring

  assert.deepEqual(methodsOf(ebs), ['nodeStageVolume', 'nodePublishVolume'])
  const staged = requestOf(ebs, 'nodeStageVolume') ?? {}
  const { volumeId, volumeContext, publishContext, volumeCapability } = staged
  assert.deepEqual(
    { volumeId, volumeContext, publishContext, volumeCapability },
    {
      volumeId: 'vol-0a1',
      volumeContext: { partition: '1' },
      publishContext: { devicePath: '/dev/xvdba' },
      volumeCapability: {
        block: undefined,
        mount: { fsType: 'xfs', mountFlags: ['noatime'], volumeMountGroup: '' },
        accessMode: { mode: 1 },
      },
    },
  )
  assert.equal(world.counted.at(-1), 'kubernetes.io/csi volume_mount false migrated')
  const migrated = world.calls.filter(({ isMigrated }) => isMigrated === true).map(({ method }) => method)
  assert.deepEqual(migrated, ['/csi.v1.Node/NodeStageVolume', '/csi.v1.Node/NodePublishVolume'])

  await world.leave()
  const next = await createCsiWorld(t, { driver, attachRequired: true, root: world.root })
  assert.deepEqual(next.kind.inUse(), [`kubernetes.io/csi/${driver}^vol-0a1`], 'it is in use before any pod is known')
  let isGone = false
  const leaving = next.release('u-1').then(() => (isGone = true))
  await next.passes(() => isGone)
  await leaving
  await next.passes(() => next.kind.inUse()?.length === 0)
  assert.deepEqual(methodsOf(ebs).slice(2), ['nodeUnpublishVolume', 'nodeUnstageVolume'])
  assert.deepEqual(readdirSync(join(world.root, 'plugins/kubernetes.io/csi', driver)), [])
})

test('a volume of an old kind in the pod itself is staged for the disk and published for the pod, under a name that is a directory', async (t) => {
  const driver = 'disk.csi.azure.com'
  const diskURI = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d'
  const world = await createCsiWorld(t, { driver })
  const disk = await world.startDriver()
  const volume = { name: 'data', azureDisk: { diskName: 'd', diskURI, kind: 'Managed', cachingMode: 'None' } }
  let isThere = false
  const ensuring = world.ensure(podWith(volume)).then(() => (isThere = true))
  await world.passes(() => isThere)
  await ensuring
  assert.deepEqual(methodsOf(disk), ['nodeStageVolume', 'nodePublishVolume'])
  const published = requestOf(disk, 'nodePublishVolume') ?? {}
  const directory = join(world.root, 'pods/u-1/volumes/kubernetes.io~csi', diskURI.replaceAll('/', '~'))
  const { volumeId, volumeContext, targetPath } = published
  assert.deepEqual(
    { volumeId, volumeContext, targetPath },
    { volumeId: diskURI, volumeContext: { kind: 'Managed', cachingmode: 'None' }, targetPath: `${directory}/mount` },
  )
  const note = JSON.parse(readFileSync(join(directory, 'vol_data.json'), 'utf8')) as Record<string, string>
  assert.deepEqual([note['specVolID'], note['volumeLifecycleMode']], [diskURI, 'Persistent'])
  assert.deepEqual(
    world.volumes.mounted().map(({ pvcRef }) => pvcRef),
    [undefined],
  )

  let isGone = false
  const leaving = world.release('u-1').then(() => (isGone = true))
  await world.passes(() => isGone)
  await leaving
  await world.passes(() => methodsOf(disk).length === 4)
  assert.deepEqual(methodsOf(disk).slice(2), ['nodeUnpublishVolume', 'nodeUnstageVolume'])
  assert.equal(existsSync(join(world.root, 'pods/u-1/volumes/kubernetes.io~csi')), false)
})

test('a volume of an old kind that has no driver fails with an event; one for another zone says so', async (t) => {
  const driver = 'ebs.csi.aws.com'
  const world = await createCsiWorld(t, { driver })
  const awsElasticBlockStore = { volumeID: 'vol-1' }
  putClaim(world, { awsElasticBlockStore }, { 'topology.kubernetes.io/zone': 'us-east-1b' })
  world.setNode({ 'topology.ebs.csi.aws.com/zone': 'us-east-1a' }, [])
  await assert.rejects(world.ensure(podWith(claimed)), /NodeAffinity check failed for volume "pv-1"/)
  putClaim(world, { awsElasticBlockStore: { volumeID: 'aws://z/disk-1' } })
  await assert.rejects(
    world.ensure(podWith(claimed)),
    /failed to translate in-tree pv to CSI: Invalid format for AWS volume \(aws:\/\/z\/disk-1\)/,
  )
  using ended = new AbortScope(never)
  void world.ensure(podWith({ name: 'data', awsElasticBlockStore }), ended.signal).catch(() => {})
  const missing = `driver name ${driver} not found in the list of registered CSI drivers`
  await until(() => world.steps.at(-1) === `wait to mount volume "data" again: ${missing}`)
})
