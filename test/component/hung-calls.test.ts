import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CriMethod } from '../../src/protocols/cri/cri-methods.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { startAgent } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createWantedPod, createWorld, hangNext, running } from './create-world.ts'

const API = { sources: ['api'] }
const pod = createWantedPod('u-1', { terminationGracePeriodSeconds: 2 })
const deleted: Pod = {
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 2 },
}

/** Starts an agent while time goes on; says how long that took. */
async function startMeanwhile({ clock }: World, starting: Promise<Agent>) {
  const beganAt = clock.monotonic()
  const started: Agent[] = []
  void starting.then((agent) => started.push(agent))
  for (;;) {
    const [agent] = started
    if (agent !== undefined) return { agent, ms: clock.monotonic() - beganAt }
    await clock.advance(100)
  }
}

/** How long it takes until something is true. */
async function timeUntil(agent: Agent, isTrue: () => boolean): Promise<number> {
  const beganAt = agent.clock.monotonic()
  while (!isTrue() && agent.clock.monotonic() - beganAt < 600_000) await agent.pass(1000, 1000)
  return agent.clock.monotonic() - beganAt
}

for (const method of ['containerStatus', 'podSandboxStatus'] as const satisfies readonly CriMethod[]) {
  test(`an agent starts although ${method} of a pod hangs, and ends the pod soon after the runtime is well again`, async () => {
    await using world = await createWorld()
    {
      await using first = await startAgent(world, API)
      first.setPods([pod], 'api')
      await first.settle()
    }
    const hung = hangNext(world, method)
    const { agent, ms } = await startMeanwhile(world, startAgent(world, API))
    await using _ = agent
    assert.ok(ms <= 3000, `the start took ${ms} ms`)
    agent.setPods([pod], 'api')
    await agent.pass(5000)
    // Earlier calls never get an answer.
    hung.stop()
    agent.setPods([deleted], 'api')
    const endMs = await timeUntil(agent, () => running(world).length === 0)
    assert.ok(endMs <= 15_000, `the end of the pod took ${endMs} ms`)
    assert.equal(world.cri.requests('startContainer').length, 1)
    hung.release()
  })
}

for (const method of ['stopContainer', 'stopPodSandbox', 'removeContainer'] as const satisfies readonly CriMethod[]) {
  test(`a pod whose ${method} hung goes soon after the runtime is well again`, async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, API)
    agent.setPods([pod], 'api')
    await agent.settle()
    const hung = hangNext(world, method)
    agent.setPods([deleted], 'api')
    agent.setPods([], 'api')
    await agent.pass(10_000, 1000)
    hung.stop()
    const ms = await timeUntil(agent, () => agent.workers.size === 0)
    assert.ok(ms <= 30_000, `the end took ${ms} ms`)
    assert.equal(world.cri.runtime.containers.size + world.cri.runtime.sandboxes.size, 0)
    hung.release()
  })
}

test('lists that are read as streams are asked for again too when one hangs', async () => {
  await using world = await createWorld({ newer: true })
  await using agent = await startAgent(world, { flags: ['--feature-gates=CRIListStreaming=true'] })
  agent.setPods([pod])
  await agent.settle()
  const [first] = world.cri.runtime.containers.keys()
  const hung = hangNext(world, 'streamContainers')
  world.cri.exitContainer(first ?? '', 1)
  await agent.pass(5000, 1000)
  hung.stop()
  const ms = await timeUntil(agent, () => world.cri.requests('startContainer').length === 2)
  assert.ok(ms <= 15_000, `the restart took ${ms} ms`)
  hung.release()
})
