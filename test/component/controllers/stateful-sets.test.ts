import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createWorkloadWorld, runningStatus } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const statefulSet = (spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db' },
  spec: {
    replicas: 3,
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image: 'a:1' }] } },
    ...spec,
  },
})
const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: name }] } } } })
const claims = {
  volumeClaimTemplates: [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ],
}
const names = async (world: WorkloadWorld, plural: string): Promise<readonly string[]> =>
  (await world.list(plural)).map(({ metadata }) => metadata.name as string).toSorted((a, b) => (a < b ? -1 : 1))
const settled = (world: WorkloadWorld, replicas = 3): Promise<AnyObject> =>
  world.until(
    'the set to settle',
    () => world.get('statefulsets', 'db'),
    ({ metadata, status }) =>
      status.observedGeneration === metadata.generation &&
      (status.readyReplicas ?? 0) === replicas &&
      status.replicas === replicas &&
      status.currentRevision === status.updateRevision,
  )

describe('stateful sets', () => {
  test('make pods one after the other, with names and claims of their own', async (t) => {
    const world = await createWorkloadWorld(t)
    const order: string[] = []
    world.kubelet = (pod) => {
      order.push(pod.metadata.name)
      return runningStatus(pod)
    }
    const volumeMounts = [{ name: 'data', mountPath: '/data' }]
    const template = {
      metadata: { labels: { app: 'db' } },
      spec: { containers: [{ name: 'c', image: 'a:1', volumeMounts }] },
    }
    const misspelled = {
      ...claims,
      volumeClaimTemplates: [{ ...claims.volumeClaimTemplates[0], metadata: { name: 'x' } }],
    }
    await assert.rejects(world.create('statefulsets', statefulSet({ ...misspelled, template })), /Not found: "data"/)
    await world.create('statefulsets', statefulSet({ ...claims, template }))
    await settled(world)
    assert.deepEqual(order, ['db-0', 'db-1', 'db-2'])
    assert.deepEqual(await names(world, 'persistentvolumeclaims'), ['data-db-0', 'data-db-1', 'data-db-2'])
    const pod = await world.get('pods', 'db-1')
    assert.deepEqual([pod.spec.hostname, pod.spec.subdomain], ['db-1', 'db'])
    assert.equal(pod.metadata.labels['apps.kubernetes.io/pod-index'], '1')
    assert.equal(pod.spec.volumes[0].persistentVolumeClaim.claimName, 'data-db-1')
    await world.remove('pods', 'db-0')
    await world.until(
      'db-0 again',
      () => world.get('pods', 'db-0'),
      (each) => each !== undefined && each.metadata.deletionTimestamp === undefined,
    )
    assert.equal((await names(world, 'persistentvolumeclaims')).length, 3)
    await world.patch('statefulsets', 'db/scale', { spec: { replicas: 1 } })
    await settled(world, 1)
    assert.deepEqual(await names(world, 'pods'), ['db-0'])
    assert.equal((await names(world, 'persistentvolumeclaims')).length, 3)
  })

  test('wait for a pod that is not ready; parallel ones do not', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = () => undefined
    await world.create('statefulsets', statefulSet())
    await world.until(
      'one pod',
      () => world.list('pods'),
      (pods) => pods.length === 1,
    )
    await world.remove('statefulsets', 'db')
    await world.until(
      'no pod',
      () => world.list('pods'),
      (pods) => pods.length === 0,
    )
    await world.create('statefulsets', statefulSet({ podManagementPolicy: 'Parallel' }))
    await world.until(
      'three pods',
      () => world.list('pods'),
      (pods) => pods.length === 3,
    )
  })

  test('are updated from the highest ordinal down to the partition', async (t) => {
    const world = await createWorkloadWorld(t)
    const updateStrategy = (partition: number) => ({ spec: { updateStrategy: { rollingUpdate: { partition } } } })
    await world.create('statefulsets', statefulSet())
    await settled(world)
    await world.patch('statefulsets', 'db', updateStrategy(2))
    await world.patch('statefulsets', 'db', image('a:2'))
    const images = async () =>
      (await world.list('pods'))
        .map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0].image}`)
        .toSorted((a, b) => (a < b ? -1 : 1))
    await world.until('one new pod', images, (all) => all.join() === 'db-0 a:1,db-1 a:1,db-2 a:2')
    await world.remove('pods', 'db-0')
    await world.until('db-0 with the old template', images, (all) => all.join() === 'db-0 a:1,db-1 a:1,db-2 a:2')
    await world.patch('statefulsets', 'db', updateStrategy(0))
    await settled(world)
    assert.deepEqual(await images(), ['db-0 a:2', 'db-1 a:2', 'db-2 a:2'])
    assert.deepEqual(
      (await world.list('controllerrevisions')).map(({ revision }) => revision).toSorted((a, b) => a - b),
      [1, 2],
    )
  })

  test('let claims go with pods that are too many, or with the set, where the policy says so', async (t) => {
    const world = await createWorkloadWorld(t)
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete', whenDeleted: 'Delete' }
    await world.create('statefulsets', statefulSet({ ...claims, persistentVolumeClaimRetentionPolicy }))
    await settled(world)
    await world.patch('statefulsets', 'db/scale', { spec: { replicas: 2 } })
    await settled(world, 2)
    await world.until(
      'two claims',
      () => names(world, 'persistentvolumeclaims'),
      (all) => all.length === 2,
    )
    await world.remove('statefulsets', 'db')
    await world.until(
      'nothing',
      async () => [...(await names(world, 'pods')), ...(await names(world, 'persistentvolumeclaims'))],
      (all) => all.length === 0,
    )
  })

  test('have a new claim when they grow again before the pod that takes the old one along is gone', async (t) => {
    const world = await createWorkloadWorld(t)
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete' }
    await world.create('statefulsets', statefulSet({ ...claims, replicas: 2, persistentVolumeClaimRetentionPolicy }))
    await settled(world, 2)
    const uidOf = async (plural: string, name: string) => (await world.get(plural, name))?.metadata.uid as string
    const [pod, claim] = [await uidOf('pods', 'db-1'), await uidOf('persistentvolumeclaims', 'data-db-1')]
    world.endsPods = false
    await world.patch('statefulsets', 'db/scale', { spec: { replicas: 1 } })
    await world.until(
      'db-1 to end',
      () => world.get('pods', 'db-1'),
      (each) => each.metadata.deletionTimestamp !== undefined,
    )
    const { ownerReferences } = (await world.get('persistentvolumeclaims', 'data-db-1')).metadata
    assert.deepEqual(ownerReferences[0].uid, pod)
    await world.patch('statefulsets', 'db/scale', { spec: { replicas: 2 } })
    await world.until(
      'the set to know it',
      () => world.get('statefulsets', 'db'),
      ({ metadata, status }) => status.observedGeneration === metadata.generation,
    )
    world.endsPods = true
    await world.remove('pods', 'db-1', { gracePeriodSeconds: 0 })
    await settled(world, 2)
    assert.notEqual(await uidOf('pods', 'db-1'), pod)
    assert.notEqual(await uidOf('persistentvolumeclaims', 'data-db-1'), claim)
  })

  test('leave claims behind when pods are to be left, whatever the policy says', async (t) => {
    const world = await createWorkloadWorld(t)
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete' }
    await world.create('statefulsets', statefulSet({ ...claims, replicas: 1, persistentVolumeClaimRetentionPolicy }))
    await settled(world, 1)
    await world.remove('statefulsets', 'db', { propagationPolicy: 'Orphan' })
    await world.until(
      'the set to go',
      () => world.get('statefulsets', 'db'),
      (each) => each === undefined,
    )
    for (const [plural, name] of [
      ['pods', 'db-0'],
      ['persistentvolumeclaims', 'data-db-0'],
    ] as const)
      assert.deepEqual((await world.get(plural, name)).metadata.ownerReferences ?? [], [])
  })

  test('say that they changed what becomes of claims', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('statefulsets', statefulSet({ ...claims, replicas: 1 }))
    await settled(world, 1)
    assert.equal((await world.get('pods', 'db-0')).metadata.generateName, 'db-')
    await world.patch('statefulsets', 'db', {
      spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } },
    })
    await world.until(
      'the event',
      () => world.events('SuccessfulUpdate'),
      ([message]) => message === 'Update Pod db-0 in StatefulSet db successful',
    )
  })

  test('begin at an ordinal, and replace pods that failed', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('statefulsets', statefulSet({ replicas: 2, ordinals: { start: 5 } }))
    await settled(world, 2)
    assert.deepEqual(await names(world, 'pods'), ['db-5', 'db-6'])
    const { metadata } = await world.get('pods', 'db-5')
    await world.patch('pods', 'db-5/status', { status: { phase: 'Failed' } })
    await world.until(
      'another db-5',
      () => world.get('pods', 'db-5'),
      (each) => each !== undefined && each.metadata.uid !== metadata.uid,
    )
    await settled(world, 2)
  })
})
