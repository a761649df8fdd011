import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lifecycle } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import type { ExecResult } from '../../src/simulation/runtime/runtime-handlers.ts'
import { startAgent, until } from './create-agent.ts'
import type { World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, running } from './create-world.ts'

const API = { sources: ['api'] }
const command = (...words: string[]) => ({ exec: { command: words } })
const podWith = (lifecycle: Lifecycle) => createWantedPod('u-1', { containers: [createWantedContainer({ lifecycle })] })
const deleted = (pod: Pod, deletionGracePeriodSeconds = 30): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds },
})

/** Stops and hooks in the order in which the runtime was asked. */
function stops({ cri }: World): string[] {
  return cri.called.flatMap(({ method, request }) => {
    const { timeout, cmd } = request as { timeout?: bigint; cmd?: string[] }
    if (method === 'execSync') return [`runs ${cmd?.join(' ')}`]
    return method === 'stopContainer' ? [`stops in ${timeout}s`] : []
  })
}

/** Runs the pod, deletes it, and kills the agent after so long. */
async function killAfter(world: World, pod: Pod, ms: number, beforeKill: (world: World) => void = () => {}) {
  const agent = await startAgent(world, API)
  agent.setPods([pod], 'api')
  await agent.settle()
  agent.setPods([deleted(pod)], 'api')
  await agent.pass(ms)
  beforeKill(world)
  await agent.die()
}

describe('an agent that is killed while a pod ends', () => {
  test('leaves the next one what is left of the grace, whatever happens to the time of day', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const pod = createWantedPod()
    await killAfter(world, pod, 20_000, ({ clock }) => clock.step(-3_600_000))
    assert.deepEqual(stops(world), ['stops in 30s'])
    await using agent = await startAgent(world, API)
    agent.setPods([deleted(pod)], 'api')
    await agent.settle()
    assert.deepEqual(stops(world), ['stops in 30s', 'stops in 10s'])
    await agent.pass(10_000)
    assert.deepEqual(running(world), [])
  })

  test('leaves no grace when none is left; a hook that it cut off runs again all the same, for two seconds', async () => {
    await using world = await createWorld({ onExec: () => 'hang' })
    const pod = podWith({ preStop: command('bye') })
    await killAfter(world, pod, 20_000)
    await world.clock.advance(60_000)
    await using agent = await startAgent(world, API)
    agent.setPods([deleted(pod)], 'api')
    await agent.pass(1900)
    assert.deepEqual(stops(world), ['runs bye', 'runs bye'])
    await agent.pass(100)
    await agent.settle()
    assert.deepEqual(stops(world), ['runs bye', 'runs bye', 'stops in 2s'])
  })

  test('leaves a grace that was shortened meanwhile as short as it was', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const pod = createWantedPod()
    const first = await startAgent(world, API)
    first.setPods([pod], 'api')
    await first.settle()
    first.setPods([deleted(pod)], 'api')
    await first.pass(10_000)
    first.setPods([deleted(pod, 10)], 'api')
    await first.pass(4000)
    await first.die()
    await using agent = await startAgent(world, API)
    agent.setPods([deleted(pod, 10)], 'api')
    await agent.settle()
    assert.deepEqual(stops(world), ['stops in 30s', 'stops in 10s', 'stops in 6s'])
  })

  test('has a hook that ended run once', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const pod = podWith({ preStop: command('bye') })
    await killAfter(world, pod, 500)
    await using agent = await startAgent(world, API)
    agent.setPods([deleted(pod)], 'api')
    await agent.settle()
    assert.deepEqual(stops(world), ['runs bye', 'stops in 30s', 'stops in 30s'])
  })

  test('has a hook that it cut off run again, within what is left', async () => {
    const answers: ExecResult[] = ['hang', { exitCode: 0 }]
    await using world = await createWorld({ onExec: () => answers.shift() ?? { exitCode: 0 } })
    const pod = podWith({ preStop: command('bye') })
    await killAfter(world, pod, 12_000)
    await using agent = await startAgent(world, API)
    agent.setPods([deleted(pod)], 'api')
    await agent.settle()
    assert.deepEqual(stops(world), ['runs bye', 'runs bye', 'stops in 18s'])
  })

  test('has a sleep that it cut off last as long as it should', async () => {
    await using world = await createWorld()
    const pod = podWith({ preStop: { sleep: { seconds: 20 } } })
    await killAfter(world, pod, 15_000)
    await using agent = await startAgent(world, API)
    agent.setPods([deleted(pod)], 'api')
    await agent.pass(4500)
    assert.deepEqual(stops(world), [])
    await agent.pass(500)
    assert.deepEqual(stops(world), ['stops in 10s'])
  })

  test('leaves a pod without a manifest what is left of its grace', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const first = await startAgent(world)
    first.setPods([createWantedPod()])
    await first.settle()
    first.setPods([])
    await first.pass(20_000)
    await first.die()
    await using agent = await startAgent(world)
    agent.setPods([])
    await agent.settle()
    assert.deepEqual(stops(world), ['stops in 30s', 'stops in 10s'])
  })

  test('leaves the hook of a pod whose manifest goes while no agent is there', async () => {
    await using world = await createWorld()
    const first = await startAgent(world)
    first.setPods([podWith({ preStop: command('bye') })])
    await first.settle()
    await first.die()
    await using agent = await startAgent(world)
    agent.setPods([])
    await agent.settle()
    assert.deepEqual(stops(world), ['runs bye', 'stops in 2s'])
  })

  test('leaves the hook that it cut off of a pod without a manifest', async () => {
    const answers: ExecResult[] = ['hang', { exitCode: 0 }]
    await using world = await createWorld({ onExec: () => answers.shift() ?? { exitCode: 0 } })
    const first = await startAgent(world)
    first.setPods([podWith({ preStop: command('bye') })])
    await first.settle()
    first.setPods([])
    await first.pass(12_000)
    await first.die()
    await using agent = await startAgent(world)
    agent.setPods([])
    await agent.settle()
    assert.deepEqual(stops(world), ['runs bye', 'runs bye', 'stops in 18s'])
  })

  test('takes nothing from a pod whose manifest is back, when that ends later', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const pod = podWith({ preStop: command('bye') })
    const first = await startAgent(world)
    first.setPods([pod])
    await first.settle()
    first.setPods([])
    await first.pass(20_000)
    await first.die()
    {
      await using second = await startAgent(world)
      second.setPods([pod])
      await second.pass(60_000, 5000)
      assert.deepEqual(running(world), ['main'])
    }
    await using agent = await startAgent(world)
    agent.setPods([pod])
    await agent.settle()
    agent.setPods([])
    await agent.settle()
    assert.deepEqual(stops(world), ['runs bye', 'stops in 30s', 'runs bye', 'stops in 30s'])
  })
})

describe('an agent that is killed while it stops a container of a pod that goes on', () => {
  const lifecycle = { preStop: command('bye') }
  const podOf = (image?: string) =>
    createWantedPod('u-1', { containers: [createWantedContainer({ lifecycle, ...(image && { image }) })] })

  test('leaves the next one what is left of the grace, and a hook that ended runs once', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const first = await startAgent(world)
    first.setPods([podOf()])
    await first.settle()
    first.setPods([podOf('r.example/next:1')])
    await first.pass(20_000)
    await first.die()
    assert.deepEqual(stops(world), ['runs bye', 'stops in 30s'])
    await using agent = await startAgent(world)
    agent.setPods([podOf('r.example/next:1')])
    await agent.settle()
    assert.deepEqual(stops(world), ['runs bye', 'stops in 30s', 'stops in 10s'])
    await agent.pass(10_000)
    await agent.settle()
    assert.deepEqual(running(world), ['main'])
    assert.deepEqual(
      [...world.files.files.keys()].filter((path) => path.endsWith('/termination.json')),
      [],
      'what has stopped needs no note',
    )
  })
})

describe('an agent that is killed while it stops a container whose postStart hook failed', () => {
  test('leaves the next one to finish that, with what is left of the grace', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }), onExec: () => ({ exitCode: 1 }) })
    const pod = podWith({ postStart: command('hello') })
    const first = await startAgent(world)
    first.setPods([pod])
    await first.pass(20_000)
    await first.die()
    assert.deepEqual(stops(world), ['runs hello', 'stops in 30s'])
    await using agent = await startAgent(world)
    agent.setPods([pod])
    await agent.settle()
    assert.deepEqual(stops(world), ['runs hello', 'stops in 30s', 'stops in 10s'])
    await agent.pass(10_000)
    await agent.settle()
    assert.equal(world.cri.requests('createContainer').length, 2, 'it starts again, and fails again')
  })
})

describe('a stop that fails and is tried again', () => {
  test('goes on with the grace, and runs no hook twice', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world)
    agent.setPods([podWith({ preStop: command('bye') })])
    await agent.settle()
    world.cri.script.fail('stopContainer', 'Unknown', 'busy')
    agent.setPods([])
    await until(() => world.cri.requests('stopContainer').length === 1, 'the first stop')
    await agent.pass(10_000)
    assert.deepEqual(stops(world), ['runs bye', 'stops in 30s', 'stops in 20s'])
  })

  test('writes nothing for a pod that ends at once', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    let written = 0
    world.files.files.set = (() => (written += 1)) as never
    agent.setPods([])
    await agent.pass(500)
    assert.deepEqual(running(world), [])
    assert.equal(written, 0)
  })
})
