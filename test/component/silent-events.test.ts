import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startAgent } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createWantedPod, createWorld, instanceOf } from './create-world.ts'

const HOUR_MS = 3_600_000
const DOUBTED = 'the runtime did not report what a container did, relying on relists'

/** How many lists of everything were asked for. */
function relists({ cri }: World): number {
  return cri.requests('listContainers').filter(({ filter }) => filter === undefined).length
}

/** Ends the container of a pod; returns how long it takes until the pod shows that it was started again. */
async function msUntilRestarted(world: World, agent: Agent, uid: string): Promise<number> {
  const countOf = () => agent.statusOf(uid)?.containerStatuses?.[0]?.restartCount ?? 0
  const before = countOf()
  world.cri.exitContainer(instanceOf(world), 1)
  const endedAt = world.clock.monotonic()
  while (countOf() === before && world.clock.monotonic() - endedAt < HOUR_MS) await agent.pass(100, 100)
  return world.clock.monotonic() - endedAt
}

for (const events of ['cri', 'containerd'] as const) {
  describe(`a stream of ${events} that stays open and brings nothing`, () => {
    test('hides an end for a second: the start before it was not reported either', async () => {
      await using world = await createWorld({ events })
      world.cri.muteEvents(true)
      await using agent = await startAgent(world)
      // Nothing runs, so nothing is lost yet.
      await agent.pass(300_000, 10_000)
      agent.setPods([createWantedPod()])
      await agent.pass(100_000, 1000)
      const ms = await msUntilRestarted(world, agent, 'u-1')
      assert.ok(ms <= 1100, `it took ${ms} ms`)
      assert.equal(agent.lines.filter(({ message }) => message === DOUBTED).length, 1)
    })

    test('hides an end right after the first start for a second', async () => {
      await using world = await createWorld({ events })
      world.cri.muteEvents(true)
      await using agent = await startAgent(world)
      await agent.pass(100_000, 10_000)
      agent.setPods([createWantedPod()])
      await agent.settle()
      const ms = await msUntilRestarted(world, agent, 'u-1')
      assert.ok(ms <= 1100, `it took ${ms} ms`)
    })

    test('is found out when it goes silent later, and trusted when it brings something again', async () => {
      await using world = await createWorld({ events })
      await using agent = await startAgent(world)
      agent.setPods([createWantedPod()])
      await agent.pass(90_000, 1000)
      world.cri.muteEvents(true)
      // What ends first is found by a relist, and makes the others suspect.
      const first = await msUntilRestarted(world, agent, 'u-1')
      assert.ok(first > 1100 && first <= 30_100, `it took ${first} ms`)
      await agent.pass(700_000, 10_000)
      const second = await msUntilRestarted(world, agent, 'u-1')
      assert.ok(second <= 1100, `it took ${second} ms`)
      world.cri.muteEvents(false)
      await agent.pass(700_000, 10_000)
      assert.equal(await msUntilRestarted(world, agent, 'u-1'), 100)
      await agent.pass(10_000, 1000)
      const before = relists(world)
      await agent.pass(HOUR_MS, 10_000)
      const count = relists(world) - before
      assert.ok(count <= 121, `${count} relists in an hour`)
    })
  })

  describe(`an agent that adopts a pod, with a stream of ${events}`, () => {
    test('relists a few times more, as nothing happens that could prove it', async () => {
      await using world = await createWorld({ events })
      {
        await using first = await startAgent(world)
        first.setPods([createWantedPod()])
        await first.settle()
      }
      await using second = await startAgent(world)
      second.setPods([createWantedPod()])
      const before = relists(world)
      await second.pass(HOUR_MS, 1000)
      const count = relists(world) - before
      assert.ok(count <= 128, `${count} relists in an hour`)
      assert.equal(await msUntilRestarted(world, second, 'u-1'), 100)
    })

    test('that is silent finds the first end late if it comes late, and the next one within a second', async () => {
      await using world = await createWorld({ events })
      {
        await using first = await startAgent(world)
        first.setPods([createWantedPod()])
        await first.settle()
      }
      world.cri.muteEvents(true)
      await using second = await startAgent(world)
      second.setPods([createWantedPod()])
      await second.pass(5000)
      const first = await msUntilRestarted(world, second, 'u-1')
      assert.ok(first <= 5000, `it took ${first} ms`)
      await second.pass(700_000, 10_000)
      const next = await msUntilRestarted(world, second, 'u-1')
      assert.ok(next <= 1100, `it took ${next} ms`)
    })
  })
}
