import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createWorkloadWorld, runningStatus } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const deployment = (spec: object = {}, image = 'a:1') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image }] },
    },
    ...spec,
  },
})
const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: name }] } } } })

const complete = (world: WorkloadWorld, replicas = 3): Promise<AnyObject> =>
  world.until(
    'the deployment to be complete',
    () => world.get('deployments', 'web'),
    ({ metadata, status }) =>
      status.observedGeneration === metadata.generation &&
      status.updatedReplicas === replicas &&
      status.replicas === replicas &&
      status.availableReplicas === replicas,
  )
const progressOf = ({ status }: AnyObject) => status.conditions.find(({ type }: AnyObject) => type === 'Progressing')
const revisions = async (world: WorkloadWorld) =>
  (await world.list('replicasets'))
    .map(({ metadata, spec }) => [metadata.annotations['deployment.kubernetes.io/revision'], spec.replicas])
    .toSorted((a, b) => Number(a[0]) - Number(b[0]))

describe('deployments', () => {
  test('run their pods, with status, conditions, events and a revision', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment())
    const { status, metadata } = await complete(world)
    assert.equal(metadata.annotations['deployment.kubernetes.io/revision'], '1')
    const done = await world.until(
      'progress',
      () => world.get('deployments', 'web'),
      (each) => progressOf(each)?.reason === 'NewReplicaSetAvailable',
    )
    const [set] = await world.list('replicasets')
    assert.equal(progressOf(done).message, `ReplicaSet "${set.metadata.name}" has successfully progressed.`)
    assert.equal(status.unavailableReplicas, undefined)
    const pods = await world.list('pods')
    assert.equal(pods.length, 3)
    for (const pod of pods) {
      assert.equal(pod.metadata.labels['pod-template-hash'], set.metadata.labels['pod-template-hash'])
      assert.ok(pod.metadata.name.startsWith(`${set.metadata.name}-`))
      assert.equal(pod.metadata.ownerReferences[0].uid, set.metadata.uid)
    }
    const scaled = await world.until(
      'events',
      () => world.events('ScalingReplicaSet'),
      (all) => all.length === 1,
    )
    assert.deepEqual(scaled, [`Scaled up replica set ${set.metadata.name} from 0 to 3`])
    const scale = await world.get('deployments', 'web/scale')
    assert.deepEqual(
      { ...scale, metadata: scale.metadata.name },
      {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: 'web',
        spec: { replicas: 3 },
        status: { replicas: 3, selector: 'app=web' },
      },
    )
  })

  test('roll within surge and unavailable, undo to a used set, and keep a history', async (t) => {
    const world = await createWorkloadWorld(t)
    const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
    await world.create('deployments', deployment({ strategy, revisionHistoryLimit: 1 }))
    await complete(world)
    world.peak = 0
    await world.patch('deployments', 'web', image('a:2'))
    await complete(world)
    assert.ok(world.peak <= 4, `at most 4 pods at once, not ${world.peak}`)
    assert.deepEqual(await revisions(world), [
      ['1', 0],
      ['2', 3],
    ])
    await world.patch('deployments', 'web', image('a:1'))
    await complete(world)
    assert.deepEqual(await revisions(world), [
      ['2', 0],
      ['3', 3],
    ])
    const [, current] = (await world.list('replicasets')).toSorted((a, b) => a.spec.replicas - b.spec.replicas)
    assert.equal(current.metadata.annotations['deployment.kubernetes.io/revision-history'], '1')
    await world.patch('deployments', 'web', image('a:3'))
    await complete(world)
    await world.until(
      'the history to be cut',
      () => revisions(world),
      (all) => JSON.stringify(all) === '[["3",0],["4",3]]',
    )
  })

  test('follow a new number of replicas, also while paused; a paused template rolls out when resumed', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment())
    await complete(world)
    await world.patch('deployments', 'web', { spec: { paused: true, ...image('a:2').spec } })
    await world.patch('deployments', 'web/scale', { spec: { replicas: 5 } })
    await world.until(
      'five pods',
      () => world.list('pods'),
      (pods) => pods.length === 5,
    )
    assert.equal((await world.list('replicasets')).length, 1)
    const paused = await world.until(
      'the pause',
      () => world.get('deployments', 'web'),
      (each) => progressOf(each)?.reason === 'DeploymentPaused',
    )
    assert.equal(progressOf(paused).status, 'Unknown')
    await world.patch('deployments', 'web', { spec: { paused: false } })
    await complete(world, 5)
    for (const pod of await world.list('pods')) assert.equal(pod.spec.containers[0].image, 'a:2')
  })

  test('that recreate have no new pod before the last old one is gone', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment({ strategy: { type: 'Recreate' } }))
    await complete(world)
    world.endsPods = false
    await world.patch('deployments', 'web', image('a:2'))
    await world.until(
      'old pods to end',
      () => world.list('pods'),
      (pods) => pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined),
    )
    await world.until(
      'the old set to be empty',
      () => world.list('replicasets'),
      (all) => all[0].status.replicas === 0,
    )
    assert.equal((await world.list('replicasets')).length, 1)
    world.endsPods = true
    for (const { metadata } of await world.list('pods'))
      await world.remove('pods', metadata.name, { gracePeriodSeconds: 0 })
    await complete(world)
    assert.equal((await world.list('pods')).length, 3)
  })

  test('report a rollout that does not move, and go on when it is fixed', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment({ progressDeadlineSeconds: 1 }))
    await complete(world)
    world.kubelet = (pod) => (pod.spec.containers[0].image === 'bad' ? undefined : runningStatus(pod))
    await world.patch('deployments', 'web', image('bad'))
    await world.until(
      'the deadline',
      () => world.get('deployments', 'web'),
      (each) => progressOf(each)?.reason === 'ProgressDeadlineExceeded',
    )
    await world.patch('deployments', 'web', image('a:3'))
    await complete(world)
    assert.equal((await world.list('pods')).length, 3)
  })

  test('adopt pods that match and release those that do not any more', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment())
    await complete(world)
    const [pod] = await world.list('pods')
    await world.patch('pods', pod.metadata.name, { metadata: { labels: { app: 'other' } } })
    await world.until(
      'a replacement',
      () => world.list('pods'),
      (pods) => pods.length === 4,
    )
    const released = await world.get('pods', pod.metadata.name)
    assert.equal(released.metadata.ownerReferences, undefined)
    await world.patch('pods', pod.metadata.name, { metadata: { labels: { app: 'web' } } })
    await world.until(
      'one pod to be too many',
      () => world.list('pods'),
      (pods) => pods.length === 3,
    )
  })

  for (const [policy, left] of [
    ['Background', [0, 0]],
    ['Foreground', [0, 0]],
    ['Orphan', [1, 3]],
  ] as const) {
    test(`are deleted with ${policy}`, async (t) => {
      const world = await createWorkloadWorld(t)
      await world.create('deployments', deployment())
      await complete(world)
      await world.remove('deployments', 'web', { propagationPolicy: policy })
      await world.until(
        'the deployment to go',
        () => world.get('deployments', 'web'),
        (each) => each === undefined,
      )
      await world.until(
        'the rest',
        async () => [(await world.list('replicasets')).length, (await world.list('pods')).length],
        (counts) => JSON.stringify(counts) === JSON.stringify(left),
      )
      if (policy !== 'Orphan') return
      assert.deepEqual((await world.list('replicasets'))[0].metadata.ownerReferences ?? [], [])
      await world.create('deployments', deployment())
      await complete(world)
      assert.equal((await world.list('replicasets')).length, 1, 'the set was adopted')
    })
  }

  test('have exactly their pods after the controllers were killed at any time', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment({ replicas: 20 }))
    for (let round = 0; round < 4; round += 1) {
      await world.restart()
      await world.patch('deployments', 'web', image(`a:${round}`))
    }
    await complete(world, 20)
    await world.until(
      'twenty pods',
      () => world.list('pods'),
      (pods) => pods.length === 20,
    )
  })

  test('have a set that makes and takes no pods any more once it is being deleted', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment())
    await complete(world)
    const [set] = await world.list('replicasets')
    const { name } = set.metadata
    await world.patch('replicasets', name, { metadata: { finalizers: ['example.com/hold'] } })
    await world.remove('deployments', 'web', { propagationPolicy: 'Orphan' })
    world.endsPods = false
    const [pod] = await world.list('pods')
    await world.patch('pods', pod.metadata.name, { metadata: { finalizers: ['example.com/hold'] } })
    await world.remove('replicasets', name, { propagationPolicy: 'Foreground' })
    await world.until(
      'all pods to end',
      () => world.list('pods'),
      (pods) => pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined),
    )
    const { ownerReferences: _, ...metadata } = pod.metadata
    await world.create('pods', {
      metadata: { name: 'orphan', labels: metadata.labels },
      spec: deployment().spec.template.spec,
    })
    await world.restart()
    await world.until(
      'the set to be looked at',
      () => world.get('replicasets', name),
      ({ status }) => status.replicas === 0,
    )
    const all = await world.list('pods')
    const alive = all.filter((each) => each.metadata.deletionTimestamp === undefined)
    assert.deepEqual(
      alive.map((each) => [each.metadata.name, each.metadata.ownerReferences]),
      [['orphan', undefined]],
    )
  })

  test('do not roll out the same template twice, as after two restarts by kubectl within one second', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('deployments', deployment())
    await complete(world)
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' }
    const restart = () => world.patch('deployments', 'web', { spec: { template: { metadata: { annotations } } } })
    const first = await restart()
    const second = await restart()
    assert.equal(second.metadata.generation, first.metadata.generation)
    await complete(world)
    assert.equal((await world.list('replicasets')).length, 2)
  })

  test('without room for a rollout are refused', async (t) => {
    const world = await createWorkloadWorld(t)
    for (const none of [0, '0%']) {
      const strategy = { rollingUpdate: { maxSurge: none, maxUnavailable: none } }
      await assert.rejects(world.create('deployments', deployment({ strategy })), /may not be 0 when `maxSurge` is 0/)
    }
  })

  test('of which pods cannot be created say so, and go on when they can', async (t) => {
    const world = await createWorkloadWorld(t)
    const spec = deployment().spec
    const broken = { ...spec.template, spec: { ...spec.template.spec, priorityClassName: 'none' } }
    await world.create('deployments', deployment({ template: broken }))
    const failed = await world.until(
      'the failure',
      () => world.get('deployments', 'web'),
      ({ status }) => status.conditions?.some(({ type }: AnyObject) => type === 'ReplicaFailure'),
    )
    const failure = failed.status.conditions.find(({ type }: AnyObject) => type === 'ReplicaFailure')
    assert.equal(failure.reason, 'FailedCreate')
    assert.ok((await world.events('FailedCreate')).length > 0)
    await world.patch('deployments', 'web', { spec: { template: { spec: { priorityClassName: null } } } })
    await complete(world)
    await world.until(
      'the failure to pass',
      () => world.get('deployments', 'web'),
      ({ status }) => !status.conditions.some(({ type }: AnyObject) => type === 'ReplicaFailure'),
    )
  })
})
