import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const daemonSet = (spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'c', image: 'a:1' }] } },
    ...spec,
  },
})
const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: name }] } } } })

async function setUp(t: TestContext, spec: object = {}, taints: readonly object[] = []): Promise<WorkloadWorld> {
  const world = await createWorkloadWorld(t)
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-1', labels: { disk: 'fast' } },
    spec: { taints },
  }
  await world.create('nodes', node)
  await world.create('daemonsets', daemonSet(spec))
  return world
}

const settled = (world: WorkloadWorld, count = 1): Promise<AnyObject> =>
  world.until(
    'the set to settle',
    () => world.get('daemonsets', 'agent'),
    ({ metadata, status }) =>
      status.observedGeneration === metadata.generation &&
      status.desiredNumberScheduled === count &&
      (status.numberAvailable ?? 0) === count &&
      (status.updatedNumberScheduled ?? 0) === count,
  )

describe('daemon sets', () => {
  test('run a pod on the node, and replace it when it is deleted or fails', async (t) => {
    const world = await setUp(t)
    await settled(world)
    const [pod] = await world.list('pods')
    assert.equal(
      pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]
        .values[0],
      'node-1',
    )
    assert.equal(
      pod.spec.tolerations.some(({ key }: AnyObject) => key === 'node.kubernetes.io/disk-pressure'),
      true,
    )
    assert.equal(pod.metadata.labels['pod-template-generation'], '1')
    await world.remove('pods', pod.metadata.name)
    await world.until(
      'another pod',
      () => world.list('pods'),
      (pods) => pods.length === 1 && pods[0].metadata.uid !== pod.metadata.uid,
    )
    const [second] = await world.list('pods')
    await world.patch('pods', `${second.metadata.name}/status`, { status: { phase: 'Failed' } })
    await world.until(
      'a third',
      () => world.list('pods'),
      (pods) => pods.length === 1 && pods[0].metadata.uid !== second.metadata.uid,
    )
    // The next failure is waited with.
    const [third] = await world.list('pods')
    const failedAt = performance.now()
    await world.patch('pods', `${third.metadata.name}/status`, { status: { phase: 'Failed' } })
    await world.until(
      'a fourth',
      () => world.list('pods'),
      (pods) => pods.length === 1 && pods[0].metadata.uid !== third.metadata.uid,
    )
    assert.ok(performance.now() - failedAt > 900)
    const [message] = await world.until(
      'the event',
      () => world.events('FailedDaemonPod'),
      (all) => all.length > 0,
    )
    assert.equal(message, `Found failed daemon pod default/${second.metadata.name} on node node-1, will try to kill it`)
  })

  test('replace the pod when the template changes, keep revisions and go back', async (t) => {
    const world = await setUp(t)
    await settled(world)
    await world.patch('daemonsets', 'agent', image('a:2'))
    await settled(world)
    assert.equal((await world.list('pods'))[0].spec.containers[0].image, 'a:2')
    const revisions = async () =>
      (await world.list('controllerrevisions')).map(({ revision }) => revision).toSorted((a, b) => a - b)
    assert.deepEqual(await revisions(), [1, 2])
    await world.patch('daemonsets', 'agent', image('a:1'))
    await settled(world)
    assert.deepEqual(await revisions(), [2, 3])
  })

  test('with a surge have the new pod before the old one goes', async (t) => {
    const updateStrategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
    const world = await setUp(t, { updateStrategy })
    await settled(world)
    world.peak = 0
    await world.patch('daemonsets', 'agent', image('a:2'))
    await settled(world)
    assert.equal(world.peak, 2)
    await world.until(
      'one pod',
      () => world.list('pods'),
      (pods) => pods.length === 1,
    )
  })

  test('that are updated on deletion wait for it', async (t) => {
    const world = await setUp(t, { updateStrategy: { type: 'OnDelete' } })
    await settled(world)
    await world.patch('daemonsets', 'agent', image('a:2'))
    await world.until(
      'two revisions',
      () => world.list('controllerrevisions'),
      (all) => all.length === 2,
    )
    const [pod] = await world.list('pods')
    assert.equal(pod.spec.containers[0].image, 'a:1')
    await world.remove('pods', pod.metadata.name)
    await settled(world)
    assert.equal((await world.list('pods'))[0].spec.containers[0].image, 'a:2')
  })

  test('follow labels and taints of the node', async (t) => {
    const world = await setUp(t, {}, [{ key: 'only', value: 'me', effect: 'NoSchedule' }])
    await settled(world, 0)
    await world.patch('nodes', 'node-1', { spec: { taints: [] } })
    await settled(world)
    await world.patch('daemonsets', 'agent', { spec: { template: { spec: { nodeSelector: { disk: 'slow' } } } } })
    await world.until(
      'no pod',
      () => world.list('pods'),
      (pods) => pods.length === 0,
    )
    await settled(world, 0)
  })

  test('are deleted with their pods and revisions', async (t) => {
    const world = await setUp(t)
    await settled(world)
    await world.remove('daemonsets', 'agent')
    await world.until(
      'nothing',
      async () => [...(await world.list('pods')), ...(await world.list('controllerrevisions'))],
      (all) => all.length === 0,
    )
  })
})
