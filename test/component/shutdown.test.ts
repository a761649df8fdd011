import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { CriMethod } from '../../src/protocols/cri/cri-methods.ts'
import { startAgent, until } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, hangNext } from './create-world.ts'

// Far fewer turns of the event loop than anything that waits would need.
const TURNS = 200

/** Lets the agent leave and expects that it does so at once: no time passes, and it waits for nothing. */
async function leaveAtOnce({ clock, cri }: World, agent: Agent): Promise<void> {
  const stops = () => [...cri.requests('stopContainer'), ...cri.requests('stopPodSandbox')].length
  const before = stops()
  const at = clock.now()
  const patience = async () => {
    for (let turn = 0; turn < TURNS; turn += 1) await setImmediate()
    assert.fail('the agent is still there')
  }
  await Promise.race([agent.leave(), patience()])
  assert.equal(clock.now(), at)
  // The runtime notices a moment later that its calls were cancelled.
  await until(() => clock.sleeping === 0, 'no timer is left')
  assert.equal(stops(), before, 'no pod is stopped because the agent leaves')
}

const HELD: readonly CriMethod[] = [
  'imageStatus',
  'pullImage',
  'runPodSandbox',
  'podSandboxStatus',
  'createContainer',
  'startContainer',
  'listPodSandbox',
  'listContainers',
  'containerStatus',
]

describe('the agent leaves at once', () => {
  for (let call = 1; call <= 16; call += 1) {
    test(`at call ${call} of a pod's start`, async () => {
      await using world = await createWorld({ images: [] })
      const agent = await startAgent(world)
      await agent.settle()
      const at = world.cri.called.length + call
      agent.setPods([createWantedPod()])
      let quiet = false
      const done = agent.settle().then(() => (quiet = true))
      await until(() => quiet || world.cri.called.length >= at, `call ${call}`)
      await leaveAtOnce(world, agent)
      await done
    })
  }

  for (const method of HELD) {
    test(`while ${method} hangs`, async () => {
      await using world = await createWorld({ images: [] })
      const agent = await startAgent(world)
      await agent.settle()
      hangNext(world, method)
      agent.setPods([createWantedPod(), createWantedPod('u-2'), createWantedPod('u-3')])
      await agent.settle()
      await leaveAtOnce(world, agent)
    })
  }

  test('while pods run, crash, wait for their start slot, their back-off, their image and their name', async () => {
    await using world = await createWorld({
      programOf: ({ metadata }) =>
        metadata?.name === 'crash' ? { exitsAfterMs: 100, exitCode: 1 } : { onTerm: 'ignore' },
    })
    const agent = await startAgent(world, { places: 1 })
    const crash = createWantedContainer({ name: 'crash' })
    const noImage = createWantedContainer({ image: 'x/y:z', imagePullPolicy: 'Never' })
    const others = [
      createWantedPod('crashes', { containers: [crash] }),
      createWantedPod('no-image', { containers: [noImage] }),
    ]
    agent.setPods([createWantedPod('old', {}, 'web'), ...others])
    await agent.pass(3000)
    agent.setPods([createWantedPod('new', {}, 'web'), ...others])
    await agent.settle()
    hangNext(world, 'runPodSandbox')
    const late = ['a', 'b', 'c'].map((uid) => createWantedPod(uid))
    agent.setPods([createWantedPod('new', {}, 'web'), ...others, ...late])
    await agent.settle()
    assert.equal(agent.starts.waiting, 2)
    await leaveAtOnce(world, agent)
  })

  test('while a pod is being stopped', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const agent = await startAgent(world)
    const initContainers = [createWantedContainer({ name: 'proxy', restartPolicy: 'Always' })]
    agent.setPods([createWantedPod('u-1', { initContainers })])
    await agent.settle()
    agent.setPods([])
    await until(() => world.cri.requests('stopContainer').length === 1, 'the stop')
    await leaveAtOnce(world, agent)
  })

  test('while the runtime is away', async () => {
    await using world = await createWorld()
    const agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    world.cri.stopListening()
    agent.setPods([createWantedPod(), createWantedPod('u-2')])
    await agent.settle()
    await leaveAtOnce(world, agent)
  })
})
