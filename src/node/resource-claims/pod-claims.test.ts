import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { until } from '../../../test/fakes/until.ts'
import { createClaimWorld, startPodClaims } from '../../../test/fixtures/create-claim-world.ts'
import { InjectionsError } from '../../model/pod/injections-error.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { parseDraState } from './dra-state-file.ts'

function podWith(uid: string, ...names: string[]): Pod {
  return createPod({
    metadata: { uid, name: uid, namespace: 'shop' },
    spec: {
      resourceClaims: names.map((name) => ({ name, resourceClaimName: name })),
      containers: [createContainer({ resources: { claims: names.map((name) => ({ name })) } })],
    },
  })
}

function recorded(text: string | undefined): string[] {
  return parseDraState(text ?? '').map(
    ({ name, podUids, drivers }) =>
      `${name}: ${[...podUids].join(',')}; ${[...drivers].map(([driver, { length }]) => `${driver} ${length}`).join(', ')}`,
  )
}

describe('PodClaims', () => {
  test('prepares the claims of a pod with one call for each driver, and gives them back', async (t) => {
    const world = createClaimWorld(t)
    const [a, b] = [await world.driver('a.example'), await world.driver('b.example')]
    const pod = podWith('u-1', 'gpu', 'nic')
    world.claim('gpu', [pod])
    world.claim('nic', [pod], ['a.example', 'b.example'])
    const agent = await startPodClaims(t, world)
    await agent.ensure(pod)
    assert.deepEqual([a.asked, b.asked], [['prepare gpu nic'], ['prepare nic']])
    assert.deepEqual(await agent.cdi(pod), ['vendor.example/device=gpu', 'vendor.example/device=nic'])
    assert.deepEqual(recorded(world.file.text), ['gpu: u-1; a.example 1', 'nic: u-1; a.example 1, b.example 1'])
    assert.deepEqual(
      agent.claims.inUse(),
      new Map([
        ['<any>', 2],
        ['a.example', 2],
        ['b.example', 1],
      ]),
    )
    await agent.ensure(pod)
    assert.equal(a.asked.length, 1, 'what is prepared is not prepared again')
    await agent.release(pod)
    assert.deepEqual([a.asked.slice(1), b.asked.slice(1)], [['unprepare gpu nic'], ['unprepare nic']])
    assert.deepEqual(recorded(world.file.text), [])
    assert.deepEqual([agent.claims.holds(pod.metadata.uid), agent.events], [false, []])
    assert.deepEqual(agent.operations, [
      { name: 'PrepareResources', failed: false },
      { name: 'UnprepareResources', failed: false },
    ])
    assert.deepEqual(agent.steps, [
      'read resource claims',
      'NodePrepareResources of driver "a.example"',
      'NodePrepareResources of driver "b.example"',
      'NodeUnprepareResources of driver "a.example"',
      'NodeUnprepareResources of driver "b.example"',
    ])
  })

  test('a pod without claims asks no driver', async (t) => {
    const world = createClaimWorld(t)
    const agent = await startPodClaims(t, world)
    await agent.ensure(createPod())
    await agent.release(createPod())
    assert.deepEqual([agent.operations, world.file.writes], [[], 0])
  })

  test('a claim that two pods share is prepared once, and given back with the last', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const [one, two] = [podWith('u-1', 'gpu'), podWith('u-2', 'gpu')]
    world.claim('gpu', [one, two])
    const agent = await startPodClaims(t, world)
    await Promise.all([agent.ensure(one), agent.ensure(two)])
    assert.deepEqual(driver.asked, ['prepare gpu'])
    await agent.release(one)
    assert.deepEqual([driver.asked.length, recorded(world.file.text)], [1, ['gpu: u-2; a.example 1']])
    await agent.release(two)
    assert.deepEqual(driver.asked, ['prepare gpu', 'unprepare gpu'])
  })

  test('a pod that comes while another gives a claim back gets it prepared again', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const [one, two] = [podWith('u-1', 'gpu'), podWith('u-2', 'gpu')]
    world.claim('gpu', [one, two])
    const agent = await startPodClaims(t, world)
    await agent.ensure(one)
    await Promise.all([agent.release(one), agent.ensure(two)])
    assert.deepEqual(driver.asked, ['prepare gpu', 'unprepare gpu', 'prepare gpu'])
    assert.deepEqual(recorded(world.file.text), ['gpu: u-2; a.example 1'])
  })

  test('what cannot be prepared is reported, and nothing is recorded that no driver was asked for', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const pod = podWith('u-1', 'gpu')
    const agent = await startPodClaims(t, world)
    const rows: readonly (readonly [string, () => void])[] = [
      ['fetch ResourceClaim gpu: resourceclaims "gpu" not found', () => {}],
      ['pod u-1 (u-1) is not allowed to use ResourceClaim gpu (claim-gpu)', () => world.claim('gpu', [])],
      ['DRA driver x.example is not registered', () => world.claim('gpu', [pod], ['a.example', 'x.example'])],
    ]
    for (const [message, arrange] of rows) {
      arrange()
      await assert.rejects(agent.ensure(pod), new InjectionsError(message))
      assert.equal(agent.events.at(-1), `FailedPrepareDynamicResources Failed to prepare dynamic resources: ${message}`)
    }
    assert.deepEqual([driver.asked, world.file.text, agent.claims.holds(pod.metadata.uid)], [[], undefined, false])
    assert.deepEqual(agent.claims.failedPods(), ['u-1'])
    await agent.release(pod)
    assert.deepEqual(agent.claims.failedPods(), [])
  })

  test('a driver that fails, breaks or says nothing is asked again, and what it prepared is given back', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const pod = podWith('u-1', 'gpu')
    world.claim('gpu', [pod])
    const agent = await startPodClaims(t, world)
    driver.errors.set('gpu', 'too hot')
    await assert.rejects(
      agent.ensure(pod),
      new InjectionsError('NodePrepareResources failed for ResourceClaim gpu: too hot'),
    )
    assert.equal(agent.claims.holds(pod.metadata.uid), true, 'it is not known what it did')
    await assert.rejects(
      agent.release(pod),
      new InjectionsError('NodeUnprepareResources failed for ResourceClaim gpu: too hot'),
    )
    driver.errors.clear()
    driver.isBroken = true
    await assert.rejects(agent.release(pod), /^InjectionsError: NodeUnprepareResources: Internal: broken/)
    driver.isBroken = false
    driver.isMute = true
    await assert.rejects(agent.ensure(pod), /NodePrepareResources skipped 1 ResourceClaims/)
    await assert.rejects(agent.release(pod), /NodeUnprepareResources skipped ResourceClaim gpu/)
    assert.equal(agent.claims.holds(pod.metadata.uid), true)
    driver.isMute = false
    await agent.release(pod)
    assert.equal(agent.claims.holds(pod.metadata.uid), false)
  })

  test('of two claims of which one cannot be given back the other is', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const pod = podWith('u-1', 'gpu', 'nic')
    world.claim('gpu', [pod])
    world.claim('nic', [pod])
    const agent = await startPodClaims(t, world)
    await agent.ensure(pod)
    driver.errors.set('gpu', 'busy')
    await assert.rejects(agent.release(pod), /busy/)
    assert.deepEqual(recorded(world.file.text), ['gpu: u-1; a.example 1'])
  })

  test('nothing is prepared that could not be recorded', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const pod = podWith('u-1', 'gpu')
    world.claim('gpu', [pod])
    const agent = await startPodClaims(t, world)
    world.file.failure = new Error('disk is full')
    await assert.rejects(agent.ensure(pod), new InjectionsError('record of claims: disk is full'))
    assert.deepEqual(driver.asked, [])
    world.file.failure = undefined
    await agent.ensure(pod)
    assert.deepEqual(driver.asked, ['prepare gpu'])
  })

  test('another claim of the same name waits until the old one is given back', async (t) => {
    const world = createClaimWorld(t)
    await world.driver()
    const [old, young] = [podWith('u-1', 'gpu'), podWith('u-2', 'gpu')]
    world.claim('gpu', [old])
    const agent = await startPodClaims(t, world)
    await agent.ensure(old)
    world.claim('gpu', [young], ['a.example'], 'claim-new')
    await assert.rejects(
      agent.ensure(young),
      new InjectionsError(
        'old ResourceClaim with same name gpu and different UID claim-gpu still exists (previous pod force-deleted?!)',
      ),
    )
    await agent.release(old)
    await agent.ensure(young)
  })

  test('a caller that stops waiting does not stop the driver; the end of the pod does', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const pod = podWith('u-1', 'gpu')
    world.claim('gpu', [pod])
    const agent = await startPodClaims(t, world)
    driver.isHung = true
    const news = new AbortController()
    const first = agent.ensure(pod, { signal: news.signal })
    await until(() => driver.asked.length === 1)
    news.abort(new Error('news'))
    await assert.rejects(first, /news/)
    const second = agent.ensure(pod)
    driver.isHung = false
    const [outcome] = await Promise.allSettled([second, agent.release(pod)])
    assert.equal(outcome?.status, 'rejected')
    assert.deepEqual(driver.asked, ['prepare gpu', 'unprepare gpu'])
    assert.deepEqual(agent.events, [], 'a pod that ends gets no event about claims that are not prepared')
  })

  test('the next agent uses the record, and prepares again only for a new sandbox', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const pod = podWith('u-1', 'gpu')
    world.claim('gpu', [pod])
    const first = await startPodClaims(t, world)
    await first.ensure(pod)
    await first.leave()
    world.claims.clear()
    const second = await startPodClaims(t, world)
    await second.ensure(pod, { startsAgain: false })
    assert.deepEqual([driver.asked.length, await second.cdi(pod)], [1, ['vendor.example/device=gpu']])
    world.claim('gpu', [pod])
    await second.ensure(pod, { startsAgain: true })
    assert.deepEqual(driver.asked, ['prepare gpu', 'prepare gpu'])
    world.claims.clear()
    await second.release(pod)
    assert.deepEqual(driver.asked.at(-1), 'unprepare gpu')
  })

  test('what is prepared for a pod that is gone is given back once all sources are seen', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const [gone, here] = [podWith('u-1', 'gpu'), podWith('u-2', 'nic')]
    world.claim('gpu', [gone])
    world.claim('nic', [here])
    const first = await startPodClaims(t, world)
    await first.ensure(gone)
    await first.ensure(here)
    await first.leave()
    const second = await startPodClaims(t, world)
    second.living.set(here.metadata.uid, here)
    await world.clock.advance(60_000)
    assert.equal(driver.asked.length, 2, 'it is not known yet which pods are gone')
    driver.isBroken = true
    second.claims.sourcesReady()
    await until(() => driver.asked.length === 3)
    await until(() => second.operations.length === 1)
    driver.isBroken = false
    await world.clock.advance(60_000)
    await until(() => second.operations.length === 2)
    assert.deepEqual(driver.asked.slice(2), ['unprepare gpu', 'unprepare gpu'])
    assert.deepEqual(recorded(world.file.text), ['nic: u-2; a.example 1'])
  })

  test('a lost record is set aside; the claims of what runs are found again', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const [runs, ends] = [podWith('u-1', 'gpu'), podWith('u-2', 'nic')]
    world.claim('gpu', [runs])
    world.claim('nic', [ends])
    const first = await startPodClaims(t, world)
    await first.ensure(runs)
    await first.ensure(ends)
    await first.leave()
    world.file.text = world.file.text?.slice(0, -20)
    const second = await startPodClaims(t, world)
    assert.equal(world.file.aside.length, 1)
    for (const pod of [runs, ends]) {
      second.living.set(pod.metadata.uid, pod)
      second.started.add(pod.metadata.uid)
    }
    await second.release(ends)
    assert.equal(driver.asked.at(-1), 'unprepare nic')
    second.living.delete(ends.metadata.uid)
    second.claims.sourcesReady()
    await until(() => driver.asked.at(-1) === 'prepare gpu')
    await until(() => second.operations.length === 2)
    assert.deepEqual(recorded(world.file.text), ['gpu: u-1; a.example 1'])
  })

  test('a pod that never began has nothing to be found again', async (t) => {
    const world = createClaimWorld(t)
    const driver = await world.driver()
    const pod = podWith('u-1', 'gpu')
    world.claim('gpu', [pod])
    world.file.text = 'broken'
    const agent = await startPodClaims(t, world)
    agent.living.set(pod.metadata.uid, pod)
    await agent.release(pod)
    assert.deepEqual(driver.asked, [])
  })

  test('a container whose claim is not prepared is not made', async (t) => {
    const agent = await startPodClaims(t, createClaimWorld(t))
    await assert.rejects(agent.cdi(podWith('u-1', 'gpu')), { message: 'ResourceClaim gpu is not prepared' })
  })

  test('knows which pods have a device', async (t) => {
    const world = createClaimWorld(t)
    await world.driver()
    const pod = podWith('u-1', 'gpu')
    world.claim('gpu', [pod])
    const agent = await startPodClaims(t, world)
    await agent.ensure(pod)
    const withDevice = (name: string) => agent.claims.podsWith('a.example', ({ deviceName }) => deviceName === name)
    assert.deepEqual([withDevice('device-0'), withDevice('device-1')], [['u-1'], []])
  })
})
