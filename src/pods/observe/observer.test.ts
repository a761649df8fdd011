import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addContainer, addRunning, addSandbox, FAKE_IMAGE } from '../../../test/fakes/fake-cri-pods.ts'
import { observing, slowRelists } from '../../../test/fakes/observing.ts'
import { parsePodUid } from '../../model/pod/pod.ts'

const ONE = parsePodUid('u-1')
const TWO = parsePodUid('u-2')
const HOUR_MS = 3_600_000

describe('Observer', () => {
  test('sees all there is of a pod, newest first', async () => {
    await using world = await observing()
    const { fake, observer } = world
    const old = addSandbox(fake, ONE)
    fake.runtime.stopSandbox(old)
    const sandbox = addSandbox(fake, ONE, 1)
    const first = addRunning(fake, sandbox, 'main')
    await world.clock.advance(10)
    fake.exitContainer(first, 3)
    const second = addContainer(fake, sandbox, 'main', 1)
    await observer.relist()
    const common = {
      name: 'main',
      sandboxId: sandbox,
      hash: 'abc',
      message: '',
      image: FAKE_IMAGE,
      imageRef: fake.runtime.get(first).imageRef,
      logPath: '',
      terminationLog: '/host/last-words',
      applied: { cpuShares: 0n, cpuQuota: 0n, cpuPeriod: 0n, memoryLimitBytes: 0n },
    }
    const adopted = { isAdopted: true, hostNetwork: false }
    assert.deepEqual(observer.get(ONE), {
      uid: ONE,
      name: 'web',
      namespace: 'shop',
      sandboxes: [
        { id: sandbox, attempt: 1, ready: true, createdAt: 1000.000001, ...adopted, ips: ['10.88.0.3'] },
        { id: old, attempt: 0, ready: false, createdAt: 1000, ...adopted, ips: [] },
      ],
      containers: [
        {
          ...common,
          id: second,
          state: 'created',
          restartCount: 1,
          createdAt: 1010.000001,
          startedAt: 0,
          runsSince: 0,
          finishedAt: 0,
          endSeenAt: 0,
          exitCode: 0,
          reason: '',
        },
        {
          ...common,
          id: first,
          state: 'exited',
          restartCount: 0,
          createdAt: 1000.000002,
          startedAt: 1000.000003,
          runsSince: 0,
          finishedAt: 1010,
          endSeenAt: world.clock.monotonic(),
          exitCode: 3,
          reason: 'Error',
        },
      ],
    })
    assert.deepEqual([observer.ownerOf(sandbox), observer.ownerOf(first), observer.ownerOf('x')], [ONE, ONE, undefined])
    assert.deepEqual(observer.uids(), [ONE])
  })

  test('asks only for what is new or changed', async () => {
    await using world = await observing()
    const { fake, observer, changes, calls } = world
    const sandbox = addSandbox(fake, ONE)
    const main = addRunning(fake, sandbox, 'main')
    addRunning(fake, sandbox, 'other')
    addRunning(fake, addSandbox(fake, TWO), 'main')
    await observer.relist()
    assert.deepEqual(calls().sort(), [
      'containerStatus',
      'containerStatus',
      'containerStatus',
      'listContainers',
      'listPodSandbox',
      'podSandboxStatus',
      'podSandboxStatus',
    ])
    assert.deepEqual(changes.splice(0).sort(), [ONE, TWO])

    const before = observer.get(ONE)
    await observer.relist()
    assert.deepEqual(calls().sort(), ['listContainers', 'listPodSandbox'])
    assert.deepEqual(changes, [])
    assert.equal(observer.get(ONE), before)

    fake.exitContainer(main, 1)
    await observer.relist()
    assert.deepEqual(
      fake.requests('containerStatus').map(({ containerId }) => containerId),
      [main],
    )
    assert.deepEqual(calls().sort(), ['containerStatus', 'listContainers', 'listPodSandbox'])
    assert.deepEqual(changes, [ONE])
  })

  test('reads all of a pod again after its details changed', async () => {
    await using world = await observing()
    const { fake, observer, changes, calls } = world
    const main = addRunning(fake, addSandbox(fake, ONE), 'main')
    await observer.relist()
    fake.runtime.get(main).resources = { ...fake.runtime.get(main).resources, memoryLimitInBytes: 64n }
    observer.outdate(ONE)
    fake.script.fail('containerStatus', 'Unknown', 'not now', 1)
    await assert.rejects(observer.refresh(ONE), /not now/)
    calls()
    changes.splice(0)
    assert.equal((await observer.refresh(ONE))?.containers[0]?.applied?.memoryLimitBytes, 64n)
    assert.deepEqual(changes, [ONE])
    await observer.refresh(ONE)
    assert.equal(calls().filter((method) => method === 'containerStatus').length, 1)
  })

  test('forgets a pod that is gone', async () => {
    await using world = await observing()
    const { fake, observer, changes } = world
    const sandbox = addSandbox(fake, ONE)
    await observer.relist()
    fake.runtime.removeSandbox(sandbox)
    await observer.relist()
    assert.deepEqual([observer.get(ONE), observer.uids(), observer.ownerOf(sandbox)], [undefined, [], undefined])
    assert.deepEqual(changes, [ONE, ONE])
  })

  test('leaves alone what is not of a pod', async () => {
    await using world = await observing()
    addSandbox(world.fake, '../etc')
    await world.observer.relist()
    assert.deepEqual([world.observer.uids(), world.changes], [[], []])
  })

  test('refreshes one pod alone', async () => {
    await using world = await observing()
    const { fake, observer } = world
    const sandbox = addSandbox(fake, ONE)
    addSandbox(fake, TWO)
    const pod = await observer.refresh(ONE)
    assert.equal(pod?.sandboxes[0]?.id, sandbox)
    assert.deepEqual(observer.uids(), [ONE])
    assert.deepEqual(
      [...fake.requests('listPodSandbox'), ...fake.requests('listContainers')].map(
        ({ filter }) => filter?.labelSelector,
      ),
      [{ 'io.kubernetes.pod.uid': ONE }, { 'io.kubernetes.pod.uid': ONE }],
    )
    assert.equal(await observer.refresh(parsePodUid('u-3')), undefined)
    assert.deepEqual(world.changes, [ONE])
  })

  test('answers with a read that began after the question, shared by all who asked meanwhile', async () => {
    await using world = await observing()
    const { fake, observer, calls } = world
    const main = addRunning(fake, addSandbox(fake, ONE), 'main')
    const release = fake.script.hold('containerStatus')
    const early = observer.refresh(ONE)
    const late = [observer.refresh(ONE), observer.refresh(ONE)]
    release()
    await early
    fake.exitContainer(main, 1)
    const [second, third] = await Promise.all(late)
    assert.deepEqual([second?.containers[0]?.state, third], ['exited', second])
    assert.equal(calls().filter((method) => method === 'listContainers').length, 2)
  })

  test('never lets an older read replace a newer one', async () => {
    const { wrap, answered, release } = slowRelists()
    await using world = await observing(wrap)
    const { fake, observer, changes } = world
    const main = addRunning(fake, addSandbox(fake, ONE), 'main')
    await observer.refresh(ONE)
    const relist = observer.relist()
    await answered
    fake.exitContainer(main, 1)
    await observer.refresh(ONE)
    const pod = observer.get(ONE)
    release()
    await relist
    assert.equal(observer.get(ONE), pod)
    assert.equal(pod?.containers[0]?.state, 'exited')
    assert.deepEqual(changes, [ONE, ONE])
  })

  test('never lets an older read restore a pod that is gone', async () => {
    const { wrap, answered, release } = slowRelists()
    await using world = await observing(wrap)
    const { fake, observer, changes } = world
    const sandbox = addSandbox(fake, ONE)
    await observer.refresh(ONE)
    const relist = observer.relist()
    await answered
    fake.runtime.removeSandbox(sandbox)
    assert.equal(await observer.refresh(ONE), undefined)
    release()
    await relist
    assert.deepEqual([observer.get(ONE), observer.uids(), observer.ownerOf(sandbox)], [undefined, [], undefined])
    assert.deepEqual(changes, [ONE, ONE])
  })

  test('never lets details that come late restore a pod that is gone', async () => {
    const release = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    await using world = await observing((runtime) => ({
      ...runtime,
      podSandboxStatus: async (request, signal) => {
        const reply = await runtime.podSandboxStatus(request, signal)
        answered.resolve()
        await release.promise
        return reply
      },
    }))
    const { fake, observer, changes } = world
    const sandbox = addSandbox(fake, ONE)
    const relist = observer.relist()
    await answered.promise
    fake.runtime.removeSandbox(sandbox)
    assert.equal(await observer.refresh(ONE), undefined)
    release.resolve()
    await relist
    assert.deepEqual([observer.get(ONE), observer.uids(), changes], [undefined, [], []])
  })

  test('never lets an older read drop a pod that is new', async () => {
    const { wrap, answered, release } = slowRelists()
    await using world = await observing(wrap)
    const { fake, observer } = world
    const relist = observer.relist()
    await answered
    addSandbox(fake, ONE)
    await observer.refresh(ONE)
    release()
    await relist
    assert.deepEqual(observer.uids(), [ONE])
  })
})

test('Observer remembers when it first saw the end of a container, whatever the clock of the runtime says', async () => {
  await using world = await observing()
  const { fake, observer } = world
  const main = addRunning(fake, addSandbox(fake, ONE), 'main')
  await observer.relist()
  fake.exitContainer(main, 3)
  await world.clock.advance(10)
  await observer.relist()
  const seenAt = world.clock.monotonic()
  await world.clock.advance(10)
  // Something else about the pod is new: all of it is read again.
  observer.outdate(ONE)
  assert.equal((await observer.refresh(ONE))?.containers[0]?.endSeenAt, seenAt)
})

describe('an Observer whose runtime has a clock of its own', () => {
  test('remembers when it first saw a container run', async () => {
    await using world = await observing()
    const { fake, clock, observer } = world
    await observer.relist()
    const main = addContainer(fake, addSandbox(fake, ONE), 'main')
    assert.equal((await observer.refresh(ONE))?.containers[0]?.runsSince, 0, 'only made')
    clock.step(-HOUR_MS)
    fake.runtime.startContainer(main, fake.runtime.programOf(fake.runtime.get(main)))
    clock.step(HOUR_MS)
    await observer.relist()
    const seenAt = clock.monotonic()
    await clock.advance(10)
    observer.outdate(ONE)
    const { containers = [], sandboxes = [] } = (await observer.refresh(ONE)) ?? {}
    assert.deepEqual([containers[0]?.runsSince, sandboxes[0]?.isAdopted], [seenAt, undefined])
  })

  test('believes it about what ran before the agent, also when that could not be read at once', async () => {
    let isShort = true
    const unavailable = () => Promise.reject(new Error('not now'))
    await using world = await observing((runtime) => ({
      ...runtime,
      containerStatus: (request, signal) => (isShort ? unavailable() : runtime.containerStatus(request, signal)),
    }))
    const { fake, clock, observer } = world
    addRunning(fake, addSandbox(fake, ONE), 'main')
    const startedAt = clock.monotonic()
    await clock.advance(5000)
    await assert.rejects(observer.relist())
    isShort = false
    await clock.advance(5000)
    const first = await observer.refresh(ONE)
    clock.step(HOUR_MS)
    observer.outdate(ONE)
    const second = await observer.refresh(ONE)
    for (const seen of [first, second]) {
      assert.equal(Math.round(seen?.containers[0]?.runsSince ?? 0), startedAt)
      assert.equal(seen?.sandboxes[0]?.isAdopted, true)
    }
    addSandbox(fake, ONE, 1)
    assert.equal((await observer.refresh(ONE))?.sandboxes[0]?.isAdopted, undefined)
  })

  test('takes what says to have started later than now for just started', async () => {
    await using world = await observing()
    const { fake, clock, observer } = world
    addRunning(fake, addSandbox(fake, ONE), 'main')
    clock.step(-HOUR_MS)
    await observer.relist()
    assert.equal(observer.get(ONE)?.containers[0]?.runsSince, clock.monotonic())
  })
})
