import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CONFIG_SOURCE_ANNOTATION } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { EMPTY_DIR } from '../fakes/fake-volume-node.ts'
import { startAgent } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, running } from './create-world.ts'

const MEBIBYTE = 2 ** 20
// Of the node's memory, in MiB.
const HUGE_PAGES = 1024
const PATIENCE_MS = 10_000

/** A pod of the API; a file's would be critical. */
function fromApi(pod: Pod): Pod {
  const annotations = { [CONFIG_SOURCE_ANNOTATION]: 'api' }
  return { ...pod, metadata: { ...pod.metadata, annotations } }
}

function wanted(uid: string, container: string, volumes: Pod['spec']['volumes'] = []): Pod {
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))
  const containers = [createWantedContainer({ name: container, volumeMounts })]
  return fromApi(createWantedPod(uid, { containers, volumes }))
}

/** An agent that protects its node, which has 1000 MiB of memory beside that of huge pages. */
async function startProtected(world: World) {
  const counted: string[] = []
  const agent = await startAgent(world, {
    sources: ['api'],
    flags: ['--eviction-hard=memory.available<100Mi', '--enforce-node-allocatable=none'],
    allocatable: { memory: '1000Mi' },
    loops: ['volume stats', 'eviction'],
    metrics: { eviction: (signal) => void counted.push(signal) },
  })
  return { agent, counted, pressure: agent.kubelet.node.pressure }
}

/** Lets a container take memory, in MiB. */
function takeMemory({ cri }: World, container: string, mebibytes: number): void {
  const { id } = [...cri.runtime.containers.values()].find(({ config }) => config.metadata?.name === container) ?? {}
  assert.ok(id !== undefined)
  cri.setUsage(id, { cpuNanoseconds: 0n, workingSetBytes: BigInt(mebibytes * MEBIBYTE) })
}

/** What the loop needs is loaded meanwhile, in real time. */
async function passUntil(agent: Agent, isSo: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS
  while (!isSo()) {
    assert.ok(performance.now() < giveUpAt, 'expected an eviction')
    await agent.pass(1000)
  }
}

describe('a node that runs short', () => {
  test('of memory ends the pod that takes the most, keeps the others, and nothing of the pod but its status', async () => {
    // While the clock stands, what was measured before an eviction would count as new after it.
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const { agent, counted, pressure } = await startProtected(world)
    await using _ = agent
    agent.setPods([wanted('hog', 'hog'), wanted('meek', 'meek')], 'api')
    await agent.pass(1000)
    assert.deepEqual(running(world), ['hog', 'meek'])
    takeMemory(world, 'hog', 930 + HUGE_PAGES)
    takeMemory(world, 'meek', 20)
    await passUntil(agent, () => !running(world).includes('hog'))
    await agent.pass(12_000)
    assert.deepEqual(running(world), ['meek'])
    const { phase, reason, message, conditions } = agent.statusOf('hog') ?? {}
    assert.deepEqual([phase, reason], ['Failed', 'Evicted'])
    assert.match(message ?? '', /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: 50Mi\. /)
    assert.equal(conditions?.find(({ type }) => type === 'DisruptionTarget')?.message, message)
    assert.deepEqual(agent.reasons('hog').filter((each) => each === 'Evicted').length, 1)
    assert.deepEqual(counted, ['memory.available'])
    assert.equal(pressure.current.memory, true)
    // No container gets less than two seconds.
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [2n],
    )
    const left = [...world.cri.runtime.containers.values()].map(({ config }) => config.metadata?.name)
    assert.deepEqual(left, ['meek'])
    assert.equal(world.cri.runtime.sandboxes.size, 1)
  })

  test('of nothing still holds pods to their own limits', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 143 }) })
    const { agent, counted, pressure } = await startProtected(world)
    await using _ = agent
    const volumes = [{ name: 'data', emptyDir: { sizeLimit: '10Mi' } }]
    agent.setPods([wanted('over', 'over', volumes), wanted('under', 'under', volumes)], 'api')
    await agent.pass(1000)
    const { volumeNode } = world
    volumeNode.sizes.set(volumeNode.path('over', EMPTY_DIR, 'data'), 11 * MEBIBYTE)
    volumeNode.sizes.set(volumeNode.path('under', EMPTY_DIR, 'data'), 9 * MEBIBYTE)
    await passUntil(agent, () => !running(world).includes('over'))
    await agent.pass(12_000)
    assert.deepEqual(running(world), ['under'])
    const { reason, conditions } = agent.statusOf('over') ?? {}
    assert.equal(reason, 'Evicted')
    assert.equal(
      conditions?.some(({ type }) => type === 'DisruptionTarget'),
      false,
    )
    assert.deepEqual(counted, ['emptydirfs.limit'])
    assert.deepEqual(pressure.current, { memory: false, disk: false, pid: false })
  })
})
