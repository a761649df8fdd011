import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { startAgent } from './create-agent.ts'
import type { Agent } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld } from './create-world.ts'

const UID = parsePodUid('u-1')
const never = new AbortController().signal
const SHUTDOWN = 'Pod was terminated in response to imminent node shutdown.'
const DEADLINE = 'Pod was active on the node longer than the specified deadline'

type Source = 'api' | 'file'

/** How the node ends a pod; what it says of it where the pod fails. */
const ways: Readonly<Record<string, (agent: Agent, pod: Pod, source: Source) => Promise<void>>> = {
  async preemption(agent, pod, source) {
    const critical = createWantedPod('u-2', { priority: 2_000_000_000, containers: [createBig()] })
    agent.setPods([pod, critical], source)
  },
  async eviction(agent) {
    const eviction = { reason: 'Evicted', message: 'no room', disruption: 'no room', graceSeconds: 5 }
    void agent.registry.evict(UID, eviction, never)
  },
  async 'a limit of its own'(agent) {
    const eviction = { reason: 'Evicted', message: 'too much', disruption: undefined, graceSeconds: 5 }
    void agent.registry.evict(UID, eviction, never)
  },
  async shutdown(agent) {
    void agent.workers.shutDown(UID, 5, never)
  },
  async deadline(agent) {
    await agent.pass(60_000, 5000)
  },
  async deletion(agent, pod, source) {
    agent.setPods([deleted(pod)], source)
  },
  async 'deletion, and the deadline passes meanwhile'(agent, pod, source) {
    await agent.pass(55_000, 5000)
    agent.setPods([deleted(pod)], source)
    await agent.pass(6000)
  },
}

const createBig = () => createWantedContainer({ resources: { requests: { cpu: '600m' } } })
const deleted = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 },
})

const OWN_MESSAGE = 'Preempted in order to admit critical pod'
const PREEMPTED = 'Pod was preempted by Kubelet to accommodate a critical pod.'
const LATE = ['Failed', 'DeadlineExceeded', DEADLINE, undefined] as const

/** Way, how its containers end: phase, reason, message, and what DisruptionTarget says. */
const rows: readonly (readonly [
  way: string,
  exitCode: number,
  phase: string,
  reason: string | undefined,
  message: string | undefined,
  disruption: string | undefined,
])[] = [
  ['preemption', 0, 'Succeeded', undefined, undefined, PREEMPTED],
  ['preemption', 143, 'Failed', 'Preempting', OWN_MESSAGE, PREEMPTED],
  ['eviction', 0, 'Succeeded', undefined, undefined, 'no room'],
  ['eviction', 143, 'Failed', 'Evicted', 'no room', 'no room'],
  ['a limit of its own', 0, 'Succeeded', undefined, undefined, undefined],
  ['a limit of its own', 143, 'Failed', 'Evicted', 'too much', undefined],
  ['shutdown', 0, 'Succeeded', undefined, undefined, SHUTDOWN],
  ['shutdown', 143, 'Failed', 'Terminated', SHUTDOWN, SHUTDOWN],
  ['deadline', 0, ...LATE],
  ['deadline', 143, ...LATE],
  ['deletion', 0, 'Succeeded', undefined, undefined, undefined],
  ['deletion', 143, 'Failed', undefined, undefined, undefined],
  ['deletion, and the deadline passes meanwhile', 143, ...LATE],
  ['deletion, and the deadline passes meanwhile', 0, ...LATE],
]

async function endOf(
  way: string,
  exitCode: number,
  { source, ...spec }: Partial<PodSpec> & { readonly source: Source },
) {
  const isSlow = way.startsWith('deletion, ')
  await using world = await createWorld({ programOf: () => (isSlow ? { onTerm: 'ignore' } : { onTerm: exitCode }) })
  await using agent = await startAgent(world, {
    sources: [source],
    allocatable: { pods: '10', cpu: '1', memory: '1Gi' },
  })
  const pod = createWantedPod('u-1', { activeDeadlineSeconds: 60, containers: [createBig()], ...spec })
  const sourced: Pod = {
    ...pod,
    metadata: { ...pod.metadata, generation: 7, annotations: { 'kubernetes.io/config.source': source } },
  }
  agent.setPods([sourced], source)
  await agent.settle()
  assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  await ways[way]?.(agent, sourced, source)
  await agent.settle()
  if (isSlow) world.cri.exitContainer([...world.cri.runtime.containers.keys()].at(-1) ?? '', exitCode)
  await agent.pass(8000)
  const { phase, reason, message, conditions } = agent.statusOf('u-1') ?? {}
  const disruption = conditions?.find(({ type }) => type === 'DisruptionTarget')
  if (disruption !== undefined) {
    const { status, reason: why, observedGeneration } = disruption
    assert.deepEqual([status, why, observedGeneration], ['True', 'TerminationByKubelet', 7])
  }
  return [phase, reason, message, disruption?.message]
}

describe('the phase of a pod that the node ends', () => {
  for (const [way, exitCode, ...expected] of rows)
    for (const restartPolicy of ['Always', 'Never'])
      test(`${way}, its containers end with ${exitCode}, restart policy ${restartPolicy}: ${expected[0]}`, async () => {
        assert.deepEqual(await endOf(way, exitCode, { restartPolicy, source: 'api' }), expected)
      })

  // A static pod is judged by its restart policy alone: it may start again.
  test('a static pod that always restarts fails, even if its containers end well', async () => {
    const expected = ['Failed', 'Evicted', 'no room', 'no room']
    assert.deepEqual(await endOf('eviction', 0, { restartPolicy: 'Always', source: 'file' }), expected)
  })

  test('a static pod that never restarts succeeds when its containers end well', async () => {
    const expected = ['Succeeded', undefined, undefined, 'no room']
    assert.deepEqual(await endOf('eviction', 0, { restartPolicy: 'Never', source: 'file' }), expected)
  })
})
