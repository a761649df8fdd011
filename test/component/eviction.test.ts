import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NodeUse } from '../builders/create-stats-snapshot.ts'
import { createStatsSnapshot } from '../builders/create-stats-snapshot.ts'
import { NodePressure } from '../../src/node/eviction/node-pressure.ts'
import { parseThresholds } from '../../src/node/eviction/parse-thresholds.ts'
import { runEviction } from '../../src/node/eviction/run-eviction.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { startAgent } from './create-agent.ts'
import type { Agent } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, running } from './create-world.ts'

/** A pod of the API; a file's would be critical. */
function fromApi(pod: Pod): Pod {
  const annotations = { [CONFIG_SOURCE_ANNOTATION]: 'api' }
  return { ...pod, metadata: { ...pod.metadata, annotations } }
}

function wanted(uid: string, container: string, volumes: Pod['spec']['volumes'] = []): Pod {
  const containers = [createWantedContainer({ name: container })]
  return fromApi(createWantedPod(uid, { containers, volumes }))
}

/** Protects the agent's pods by stats that the test makes up. */
function protect(agent: Agent, use: () => NodeUse): { readonly counted: string[]; readonly pressure: NodePressure } {
  const counted: string[] = []
  const pressure = new NodePressure(() => {})
  const { thresholds } = parseThresholds({
    evictionHard: { 'memory.available': '100Mi' },
    evictionSoft: {},
    evictionSoftGracePeriod: {},
    evictionMinimumReclaim: {},
    enforceNodeAllocatable: [],
  })
  const { clock, log, recorder: events, registry: pods } = agent
  const deps = {
    thresholds,
    transitionMs: 300_000,
    maxGraceSeconds: 0,
    localStorage: true,
    readMemory: undefined,
    stats: { ask: async () => createStatsSnapshot({ ...use(), time: clock.now() }) },
    volumes: { measureNow: async () => {} },
    images: { collectUnused: async () => {} },
    nodeEvents: { record: () => {} },
    metrics: { eviction: (signal: string) => void counted.push(signal), evictionStatsAge: () => {} },
    pods,
    pressure,
    events,
    clock,
    log,
  }
  agent.group.run('eviction', (signal) => runEviction(deps, signal))
  return { counted, pressure }
}

describe('a node that runs short', () => {
  test('of memory ends the pod that takes the most, keeps the others, and nothing of the pod but its status', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 143 }) })
    await using agent = await startAgent(world, { sources: ['api'] })
    agent.setPods([wanted('hog', 'hog'), wanted('meek', 'meek')], 'api')
    await agent.pass(1000)
    assert.deepEqual(running(world), ['hog', 'meek'])
    const isHere = () => running(world).includes('hog')
    const pods = [
      { uid: 'hog', memory: 400 },
      { uid: 'meek', memory: 20 },
    ]
    const { counted, pressure } = protect(agent, () => ({ memoryLeft: isHere() ? 50 : 450, pods }))
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
    await using agent = await startAgent(world, { sources: ['api'] })
    const volumes = [{ name: 'data', emptyDir: { sizeLimit: '10Mi' } }]
    agent.setPods([wanted('over', 'over', volumes), wanted('under', 'under', volumes)], 'api')
    await agent.pass(1000)
    const pods = [
      { uid: 'over', volumes: { data: 11 } },
      { uid: 'under', volumes: { data: 9 } },
    ]
    const { counted, pressure } = protect(agent, () => ({ pods }))
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
