import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PodSandboxState } from '../../src/protocols/cri/generated/runtime-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { startAgent, until } from './create-agent.ts'
import type { World } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'
import { ApiReturn } from '../../src/protocols/kube-api/list-watch/api-return.ts'

const plain = createWantedPod()
const rich = createWantedPod('u-1', {
  initContainers: [
    createWantedContainer({ name: 'proxy', restartPolicy: 'Always' }),
    createWantedContainer({ name: 'prepare' }),
  ],
})
// More calls than any of these lives has: the last rounds kill an agent that is done.
const MOST_CALLS = 40

const isPrepare = ({ metadata }: { readonly metadata?: { readonly name: string } | undefined }) =>
  metadata?.name === 'prepare'

function readySandboxes({ cri }: World): number {
  return cri.runtime.sandboxes
    .values()
    .filter(({ state }) => state === PodSandboxState.SANDBOX_READY)
    .toArray().length
}

/** Runs an agent that is killed at its n-th call to the runtime from now on. */
async function runUntilCall(world: World, n: number, live: (agent: Awaited<ReturnType<typeof startAgent>>) => void) {
  const agent = await startAgent(world)
  await agent.settle()
  const killAt = world.cri.called.length + n
  live(agent)
  let quiet = false
  const done = agent.pass(3000, 1000).then(() => (quiet = true))
  await until(() => quiet || world.cri.called.length >= killAt, 'the moment of the kill')
  await agent.die()
  await done
}

/** An API with one claim, which needs nothing of any driver. */
const oneClaim = {
  readClaim: async () => ({
    metadata: { name: 'gpu', namespace: 'shop', uid: 'c-1' },
    spec: {},
    status: {
      allocation: { devices: { results: [] } },
      reservedFor: [{ resource: 'pods', name: 'pod-u-1', uid: 'u-1' }],
    },
  }),
  pauses: new ApiReturn().pauses(),
  deleteSlices: async () => {},
}

describe('an agent that is killed while a pod starts leaves what the next one completes', () => {
  for (const [name, pod, wanted] of [
    ['plain', plain, ['main']],
    ['with init containers', rich, ['main', 'proxy']],
  ] as const satisfies readonly (readonly [string, Pod, readonly string[]])[]) {
    for (let call = 1; call <= MOST_CALLS; call += 1) {
      test(`a pod ${name}, killed at call ${call}`, async () => {
        await using world = await createWorld({
          images: [],
          programOf: (config) => (isPrepare(config) ? { exitsAfterMs: 500 } : {}),
        })
        await runUntilCall(world, call, (agent) => agent.setPods([pod]))
        await using agent = await startAgent(world)
        agent.setPods([pod])
        await agent.pass(32_000, 1000)
        assert.deepEqual(running(world), wanted)
        assert.equal(world.cri.runtime.sandboxes.size, 1)
        assert.equal(readySandboxes(world), 1)
        assert.equal(agent.statusOf('u-1')?.phase, 'Running')
        assert.equal(agent.statusOf('u-1')?.containerStatuses?.[0]?.restartCount, 0)
      })
    }
  }
})

test('an agent that is killed while a container is restarted leaves one instance, counted once', async () => {
  for (let call = 1; call <= 12; call += 1) {
    await using world = await createWorld()
    await runUntilCall(world, MOST_CALLS, (agent) => agent.setPods([plain]))
    await runUntilCall(world, call, (agent) => {
      agent.setPods([plain])
      world.cri.exitContainer(instanceOf(world), 1)
    })
    await using agent = await startAgent(world)
    agent.setPods([plain])
    await agent.pass(31_000, 1000)
    assert.deepEqual(running(world), ['main'], `killed at call ${call}`)
    assert.equal(agent.statusOf('u-1')?.containerStatuses?.[0]?.restartCount, 1, `killed at call ${call}`)
    assert.equal(world.cri.runtime.sandboxes.size, 1)
  }
})

describe('a start that the runtime breaks off because its agent died', () => {
  const startError = 'failed to start containerd task "ab": context canceled: unknown'
  const breakOnce = () => {
    let isBroken = false
    return () => {
      if (isBroken) return {}
      isBroken = true
      return { startError }
    }
  }

  test('is no restart, and makes no later one wait', async () => {
    await using world = await createWorld({ programOf: breakOnce() })
    {
      await using first = await startAgent(world)
      first.setPods([plain])
      await first.settle()
      assert.deepEqual(running(world), [])
    }
    await using agent = await startAgent(world)
    agent.setPods([plain])
    await agent.settle()
    assert.deepEqual(running(world), ['main'])
    const [status] = agent.statusOf('u-1')?.containerStatuses ?? []
    assert.deepEqual([status?.restartCount, status?.lastState], [0, undefined])
    assert.equal(world.cri.runtime.containers.size, 1, 'the other one made way')
    world.cri.exitContainer(instanceOf(world), 1)
    await agent.pass(1000)
    assert.deepEqual(running(world), ['main'], 'the first crash is followed by a start at once')
    assert.equal(agent.statusOf('u-1')?.containerStatuses?.[0]?.restartCount, 1)
  })

  test('is the end of a container that runs once: it may have run', async () => {
    await using world = await createWorld({ programOf: breakOnce() })
    const once = createWantedPod('u-1', { restartPolicy: 'Never' })
    {
      await using first = await startAgent(world)
      first.setPods([once])
      await first.settle()
    }
    await using agent = await startAgent(world)
    agent.setPods([once])
    await agent.pass(15_000, 1000)
    assert.deepEqual(running(world), [])
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
  })
})

test('an agent that is killed while a pod ends leaves what the next one ends', async () => {
  for (let call = 1; call <= 12; call += 1) {
    await using world = await createWorld()
    await runUntilCall(world, MOST_CALLS, (agent) => agent.setPods([plain]))
    const first = await startAgent(world)
    first.setPods([plain])
    await first.settle()
    const killAt = world.cri.called.length + call
    first.setPods([])
    let quiet = false
    const done = first.pass(8000, 1000).then(() => (quiet = true))
    await until(() => quiet || world.cri.called.length >= killAt, 'the moment of the kill')
    await first.die()
    await done
    await using agent = await startAgent(world)
    agent.setPods([])
    await agent.pass(10_000, 1000)
    assert.equal(world.cri.runtime.sandboxes.size + world.cri.runtime.containers.size, 0, `killed at call ${call}`)
    assert.equal(agent.workers.size, 0)
  }
})

test('an agent adopts what runs and touches nothing of it', async () => {
  await using world = await createWorld({ programOf: (config) => (isPrepare(config) ? { exitsAfterMs: 500 } : {}) })
  {
    await using first = await startAgent(world)
    first.setPods([rich])
    await first.pass(2000)
    assert.equal(first.statusOf('u-1')?.phase, 'Running')
  }
  const before = changes(world).length
  await using agent = await startAgent(world)
  agent.setPods([rich])
  await agent.pass(120_000, 1000)
  assert.deepEqual(changes(world).slice(before), [])
  assert.equal(agent.statusOf('u-1')?.phase, 'Running')
})

interface FinishedCase {
  readonly name: string
  readonly restartPolicy: string
  readonly exitCode: number
  readonly phase: string
}

const finishedCases: readonly FinishedCase[] = [
  { name: 'succeeded and is never restarted', restartPolicy: 'Never', exitCode: 0, phase: 'Succeeded' },
  { name: 'failed and is never restarted', restartPolicy: 'Never', exitCode: 3, phase: 'Failed' },
  { name: 'succeeded and would be restarted on failure', restartPolicy: 'OnFailure', exitCode: 0, phase: 'Succeeded' },
]

describe('a pod that', () => {
  for (const { name, restartPolicy, exitCode, phase } of finishedCases) {
    test(`${name} stays ${phase} across restarts of the agent, and never runs again`, async () => {
      await using world = await createWorld({ programOf: () => ({ exitsAfterMs: 1000, exitCode }) })
      const pod = createWantedPod('u-1', { restartPolicy })
      for (let round = 0; round < 3; round += 1) {
        await using agent = await startAgent(world)
        agent.setPods([pod])
        await agent.pass(70_000, 1000)
        assert.equal(agent.statusOf('u-1')?.phase, phase)
        assert.equal(agent.statusOf('u-1')?.containerStatuses?.[0]?.state?.terminated?.exitCode, exitCode)
      }
      assert.equal(world.cri.requests('startContainer').length, 1)
      assert.equal(world.cri.requests('runPodSandbox').length, 1)
      assert.equal(readySandboxes(world), 0)
    })
  }
})

describe('what runs and no source knows', () => {
  test('is ended only after all sources were seen', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    {
      await using first = await startAgent(world)
      first.setPods([createWantedPod('orphan'), createWantedPod('kept')])
      await first.settle()
    }
    await using agent = await startAgent(world, { sources: ['file', 'http'] })
    agent.setPods([], 'file')
    await agent.pass(60_000, 1000)
    assert.equal(running(world).length, 2)
    agent.setPods([createWantedPod('kept')], 'http')
    await agent.pass(8000)
    assert.equal(running(world).length, 1)
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [2n],
    )
    assert.equal(agent.workers.size, 1)
    assert.equal(agent.statusOf('kept')?.phase, 'Running')
    assert.deepEqual(agent.cgroupsRemoved, ['orphan'])
  })

  test('is ended also when it comes later', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([])
    const stranger = await startAgent(world)
    stranger.setPods([createWantedPod('orphan')])
    await stranger.settle()
    await stranger.die()
    assert.equal(world.cri.requests('startContainer').length, 1)
    await agent.pass(40_000, 1000)
    assert.equal(world.cri.runtime.sandboxes.size, 0)
    assert.equal(agent.workers.size, 0)
  })

  test('is ended and then runs again when its source comes back with it', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    {
      await using first = await startAgent(world)
      first.setPods([plain])
      await first.settle()
    }
    await using agent = await startAgent(world)
    agent.setPods([])
    await agent.settle()
    agent.setPods([plain])
    await agent.pass(8000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    assert.deepEqual(running(world), ['main'])
  })

  test('of a pod that is rejected now stays until the pod is removed', async () => {
    await using world = await createWorld()
    const pod = createWantedPod('u-1', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] })
    {
      await using first = await startAgent(world, { dynamicResources: oneClaim })
      first.setPods([pod])
      await first.settle()
    }
    await using agent = await startAgent(world)
    agent.setPods([pod])
    await agent.pass(5000)
    assert.deepEqual(running(world), ['main'])
    agent.setPods([])
    await agent.pass(6000)
    assert.equal(world.cri.runtime.sandboxes.size, 0)
    assert.equal(agent.workers.size, 0)
  })
})
