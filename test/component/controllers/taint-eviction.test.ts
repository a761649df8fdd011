import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { createWorkloadWorld } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const bad = { key: 'bad', value: 'very', effect: 'NoExecute' }
const worse = { key: 'worse', effect: 'NoExecute' }
const tolerates = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
})
const pod = (name: string, tolerations: readonly object[] = [], others: object = {}) => ({
  metadata: { name, ...others },
  spec: { tolerations, containers: [{ name: 'c', image: 'i' }] },
})
const taint = (world: WorkloadWorld, ...taints: readonly object[]) =>
  world.patch('nodes', 'node-1', { spec: { taints } })
const eventsOf = async (world: WorkloadWorld): Promise<readonly AnyObject[]> =>
  (await world.list('events')).filter(({ reason }) => reason === 'TaintManagerEviction')
const messages = async (world: WorkloadWorld) =>
  (await eventsOf(world)).map(({ message }) => message as string).filter((message) => !message.endsWith('/marker'))
const said = (world: WorkloadWorld, message: string) =>
  world.until(
    message,
    () => messages(world),
    (found) => found.includes(message),
  )
const running = (world: WorkloadWorld, ...names: readonly string[]) =>
  world.until(
    `${names.join(', ')} to run`,
    () => world.list('pods'),
    (pods) =>
      pods.length === names.length &&
      pods.every(({ metadata, status }) => names.includes(metadata.name) && status.phase === 'Running'),
  )

/** Waits until all that came before was decided about: a pod that tolerates nothing comes last, and goes. */
async function untilDecided(world: WorkloadWorld): Promise<void> {
  await world.create('pods', pod('marker'))
  await world.until(
    'the marker to go',
    () => world.get('pods', 'marker'),
    (found) => found === undefined,
  )
}

async function setUp(t: TestContext, options: Parameters<typeof createWorkloadWorld>[1] = {}): Promise<WorkloadWorld> {
  const world = await createWorkloadWorld(t, options)
  await world.create('nodes', { metadata: { name: 'node-1' } })
  return world
}

describe('taint eviction', () => {
  test('pods that do not tolerate the taint are deleted, with condition and event', async (t) => {
    const world = await setUp(t)
    world.endsPods = false
    await world.create('pods', pod('leaves'))
    await world.create('pods', pod('ended', [tolerates('worse')]))
    await world.create('pods', pod('stays', [tolerates('bad')]))
    await world.create('pods', pod('mirror', [{ operator: 'Exists', effect: 'NoExecute' }]))
    await running(world, 'leaves', 'ended', 'stays', 'mirror')
    await world.patch('pods', 'ended/status', { status: { phase: 'Succeeded' } })
    await taint(world, { ...bad, effect: 'NoSchedule' })
    await taint(world, bad)
    // One that has ended needs no grace.
    const all = await world.until(
      'two to leave',
      () => world.list('pods'),
      (pods) => pods.length === 3 && pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined),
    )
    assert.deepEqual(
      all.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name),
      ['mirror', 'stays'],
    )
    const { metadata, status } = await world.get('pods', 'leaves')
    assert.equal(metadata.deletionGracePeriodSeconds, 30)
    const { lastTransitionTime, ...condition } = status.conditions.find(
      ({ type }: AnyObject) => type === 'DisruptionTarget',
    )
    assert.match(lastTransitionTime, /^\d{4}-/)
    assert.deepEqual(condition, {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      observedGeneration: 1,
    })
    // What the kubelet wrote is still there.
    assert.ok(status.conditions.some(({ type }: AnyObject) => type === 'Ready'))
    const events = await world.until(
      'the events',
      () => eventsOf(world),
      ({ length }) => length === 2,
    )
    assert.deepEqual((await messages(world)).toSorted(), [
      'Marking for deletion Pod default/ended',
      'Marking for deletion Pod default/leaves',
    ])
    assert.deepEqual(
      events.map(({ type, source, involvedObject }) => [type, source.component, involvedObject.kind]),
      [
        ['Normal', 'taint-eviction-controller', 'Pod'],
        ['Normal', 'taint-eviction-controller', 'Pod'],
      ],
    )
    // Those that are leaving are not evicted again.
    await taint(world, bad, worse)
    await said(world, 'Marking for deletion Pod default/stays')
    assert.equal((await messages(world)).length, 3)
  })

  test('a pod of a node that is tainted already is deleted when it gets there; one of another node is not', async (t) => {
    const world = await setUp(t)
    await world.create('nodes', { metadata: { name: 'other' } })
    await world.create('pods', { ...pod('other'), spec: { ...pod('other').spec, nodeName: 'other' } })
    await taint(world, bad)
    await world.create('pods', pod('late'))
    await said(world, 'Marking for deletion Pod default/late')
    await running(world, 'other')
  })

  test('a pod stays for its least time; a taint that goes, or one that it does not tolerate, ends the wait', async (t) => {
    const clock = new FakeClock()
    const world = await setUp(t, { clock })
    const both = [tolerates('bad', 300), tolerates('worse', 60)]
    await world.create('pods', pod('both', both))
    await world.create('pods', pod('one', [tolerates('bad', 300)]))
    await running(world, 'both', 'one')
    await taint(world, bad)
    await untilDecided(world)
    await clock.advance(100_000)
    await taint(world)
    await said(world, 'Cancelling deletion of Pod default/both')
    await said(world, 'Cancelling deletion of Pod default/one')
    await clock.advance(1_000_000)
    await running(world, 'both', 'one')

    await taint(world, bad, worse)
    await untilDecided(world)
    await said(world, 'Marking for deletion Pod default/one')
    await clock.advance(59_000)
    await running(world, 'both')
    await clock.advance(1000)
    await said(world, 'Marking for deletion Pod default/both')
    await running(world)
  })

  test('a pod that waits and is deleted by a user ends the wait; the next one of its name has its own time', async (t) => {
    const clock = new FakeClock()
    const world = await setUp(t, { clock })
    await taint(world, bad)
    await world.create('pods', pod('a', [tolerates('bad', 60)]))
    await untilDecided(world)
    await clock.advance(50_000)
    await world.remove('pods', 'a')
    await said(world, 'Cancelling deletion of Pod default/a')
    await running(world)
    await world.create('pods', pod('a', [tolerates('bad', 60)]))
    await untilDecided(world)
    await clock.advance(50_000)
    await running(world, 'a')
    await clock.advance(10_000)
    await running(world)
  })

  test('a time begins again when the controllers are killed and started again', async (t) => {
    const clock = new FakeClock()
    const world = await setUp(t, { clock })
    await taint(world, bad)
    await world.create('pods', pod('a', [tolerates('bad', 60)]))
    await untilDecided(world)
    await clock.advance(50_000)
    await world.restart()
    await untilDecided(world)
    await clock.advance(50_000)
    await running(world, 'a')
    await clock.advance(10_000)
    await running(world)
    await said(world, 'Marking for deletion Pod default/a')
    assert.equal((await messages(world)).length, 1)
  })

  test('a toleration that is added keeps the pod', async (t) => {
    const clock = new FakeClock()
    const world = await setUp(t, { clock })
    await taint(world, bad, worse)
    const own = [tolerates('worse', 60), tolerates('bad')]
    const { spec } = await world.create('pods', pod('a', own))
    await untilDecided(world)
    const tolerations = [tolerates('worse'), ...spec.tolerations]
    await world.patch('pods', 'a', { spec: { tolerations } })
    await said(world, 'Cancelling deletion of Pod default/a')
    await clock.advance(100_000)
    await running(world, 'a')
    assert.deepEqual(await messages(world), ['Cancelling deletion of Pod default/a'])
  })

  test('a taint for trouble of the node: pods have five minutes by default, daemons all the time', async (t) => {
    const clock = new FakeClock()
    const world = await setUp(t, { clock })
    // The other taint is for the marker.
    const tolerations = [tolerates('worse')]
    await world.create('pods', pod('a', tolerations))
    await world.create('daemonsets', {
      metadata: { name: 'agent' },
      spec: {
        selector: { matchLabels: { app: 'agent' } },
        template: { metadata: { labels: { app: 'agent' } }, spec: pod('agent', tolerations).spec },
      },
    })
    await world.until(
      'both',
      () => world.list('pods'),
      (pods) => pods.length === 2 && pods.every(({ status }) => status.phase === 'Running'),
    )
    await taint(world, { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }, worse)
    await untilDecided(world)
    await clock.advance(299_000)
    assert.equal((await world.list('pods')).length, 2)
    await clock.advance(1000)
    const [daemon] = await world.until(
      'one to leave',
      () => world.list('pods'),
      (pods) => pods.length === 1,
    )
    assert.match(daemon.metadata.name, /^agent-/)
    await clock.advance(1_000_000)
    assert.equal((await world.get('pods', daemon.metadata.name)).metadata.uid, daemon.metadata.uid)
  })
})
