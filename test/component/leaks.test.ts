import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startAgent } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld } from './create-world.ts'

const LINGER_MS = 5000
const ROUNDS = 20
const PODS_PER_ROUND = 50
const MEGABYTE = 1024 ** 2

/** Everything that could leak and can be counted. */
function count({ clock, cri }: World, agent: Agent) {
  return {
    timers: clock.sleeping,
    listeners: getEventListeners(agent.group.signal, 'abort').length,
    tasks: agent.group.size,
    workers: agent.workers.size,
    views: agent.registry.views().length,
    observed: agent.observer.uids().length,
    waiting: agent.starts.waiting,
    parts: cri.runtime.sandboxes.size + cri.runtime.containers.size,
  }
}

test('pods of all kinds leave nothing behind', async () => {
  await using world = await createWorld({
    images: ['registry.test/app:1'],
    programOf: ({ metadata }) => {
      if (metadata?.name === 'crash') return { exitsAfterMs: 100, exitCode: 1 }
      return metadata?.name === 'deaf' ? { onTerm: 'ignore' } : {}
    },
  })
  await using agent = await startAgent(world)
  agent.setPods([])
  await agent.pass(1000)
  const before = count(world, agent)
  const one = (name: string) => [createWantedContainer({ name })]
  const sidecar = createWantedContainer({ name: 'proxy', restartPolicy: 'Always' })
  agent.setPods([
    createWantedPod('runs'),
    createWantedPod('crashes', { containers: one('crash') }),
    createWantedPod('deaf', { containers: one('deaf'), terminationGracePeriodSeconds: 3 }),
    createWantedPod('sidecar', {
      initContainers: [sidecar],
      containers: one('deaf'),
      terminationGracePeriodSeconds: 60,
    }),
    createWantedPod('quick-sidecar', { initContainers: [sidecar], terminationGracePeriodSeconds: 3600 }),
    createWantedPod('no-image', { containers: [createWantedContainer({ image: 'x/y:z', imagePullPolicy: 'Never' })] }),
    createWantedPod('refused', { volumes: [{ name: 'v', emptyDir: {} }] }),
    createWantedPod('deadline', { activeDeadlineSeconds: 5 }),
  ])
  await agent.pass(20_000)
  agent.setPods([])
  await agent.pass(60_000 + LINGER_MS, 1000)
  assert.deepEqual(count(world, agent), before)
  assert.deepEqual([...world.files.files.keys(), ...world.files.directories], [])
})

test('a thousand pods that come and go leave heap and handles as they were', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await using world = await createWorld()
  await using agent = await startAgent(world, { places: 16 })
  agent.setPods([])
  await agent.pass(1000)
  const before = count(world, agent)
  const round = async (number: number) => {
    agent.setPods(Array.from({ length: PODS_PER_ROUND }, (_, index) => createWantedPod(`u-${number}-${index}`)))
    await agent.settle()
    assert.equal(agent.registry.views().filter(({ status }) => status.phase === 'Running').length, PODS_PER_ROUND)
    agent.setPods([])
    await agent.pass(LINGER_MS + 1000, 3000)
    assert.deepEqual(count(world, agent), before)
    // What the fakes remember would hide what the agent does.
    for (const record of [world.cri.called, agent.events, agent.lines, agent.counted, agent.cgroupsRemoved])
      record.length = 0
    collect()
    return { heap: process.memoryUsage().heapUsed, handles: process.getActiveResourcesInfo().length }
  }
  await round(0)
  const first = await round(1)
  let last = first
  for (let number = 2; number < ROUNDS; number += 1) last = await round(number)
  assert.ok(last.heap - first.heap < 2 * MEGABYTE, `heap grew by ${last.heap - first.heap} bytes`)
  assert.ok(last.handles <= first.handles, `${first.handles} handles became ${last.handles}`)
})
