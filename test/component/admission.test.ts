import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer } from '../builders/create-pod.ts'
import type { PodSecurityContext } from '../../src/model/generated/core-v1.ts'
import { startAgent } from './create-agent.ts'
import { changes, createWantedPod, createWorld, running } from './create-world.ts'

const secure = (securityContext: PodSecurityContext) => createWantedPod('u-1', { securityContext })
const tuned = secure({ sysctls: [{ name: 'kernel/msgmax', value: '65536' }] })

describe('admission', () => {
  const rows: readonly (readonly [PodSecurityContext, reason: string, message: string])[] = [
    [
      { sysctls: [{ name: 'kernel.msgmax', value: '1' }] },
      'SysctlForbidden',
      'forbidden sysctl: "kernel.msgmax" not allowlisted',
    ],
    [
      { supplementalGroupsPolicy: 'Strict' },
      'SupplementalGroupsPolicyNotSupported',
      'SupplementalGroupsPolicy=Strict is not supported in this node',
    ],
    [
      { appArmorProfile: { type: 'RuntimeDefault' } },
      'AppArmor',
      'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ],
  ]
  for (const [securityContext, reason, message] of rows) {
    test(`rejects with ${reason}, as an event and in the status, and nothing is made`, async () => {
      await using world = await createWorld()
      await using agent = await startAgent(world)
      agent.setPods([secure(securityContext)])
      await agent.settle()
      const { startTime, ...status } = agent.statusOf('u-1') ?? {}
      assert.ok(startTime !== undefined)
      assert.deepEqual(status, {
        phase: 'Failed',
        reason,
        message: `Pod was rejected: ${message}`,
        qosClass: 'BestEffort',
      })
      assert.deepEqual(
        agent.events.map((event) => [event.type, event.reason, event.message]),
        [['Warning', reason, message]],
      )
      assert.deepEqual(changes(world), [])
    })
  }

  test('lets a sysctl pass that the configuration allows, in the form that the runtime reads', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { flags: ['--allowed-unsafe-sysctls=kernel.msg*'] })
    agent.setPods([tuned])
    await agent.settle()
    assert.deepEqual(
      { ...world.cri.requests('runPodSandbox')[0]?.config?.linux?.sysctls },
      { 'kernel.msgmax': '65536' },
    )
  })

  test('lets groups be strict where the runtime can', async () => {
    await using world = await createWorld({ supplementalGroupsPolicy: true })
    await using agent = await startAgent(world)
    agent.setPods([secure({ supplementalGroupsPolicy: 'Strict' })])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })

  test('never rejects a pod that runs, although an agent with other rules finds it', async () => {
    await using world = await createWorld()
    {
      await using first = await startAgent(world, { flags: ['--allowed-unsafe-sysctls=kernel.msgmax'] })
      first.setPods([tuned])
      await first.settle()
    }
    await using agent = await startAgent(world)
    agent.setPods([tuned])
    await agent.settle()
    assert.deepEqual(running(world), ['main'])
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })

  const wishing = (uid: string, cpu: string) =>
    createWantedPod(uid, { containers: [createContainer({ resources: { requests: { cpu } } })] })
  const small = { pods: '10', cpu: '1', memory: '1Gi' }

  test('rejects a static pod that there is no room for: none of the others may be preempted', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { allocatable: small })
    agent.setPods([wishing('u-1', '600m'), wishing('u-2', '600m')])
    await agent.settle()
    const { phase, reason } = agent.statusOf('u-2') ?? {}
    assert.deepEqual([agent.statusOf('u-1')?.phase, phase, reason], ['Running', 'Failed', 'UnexpectedAdmissionError'])
  })

  test('goes on when a preempted pod does not end in time', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { allocatable: small, sources: ['file', 'api'] })
    const wanted = wishing('u-1', '600m')
    const annotations = { 'kubernetes.io/config.source': 'api' }
    agent.setPods([{ ...wanted, metadata: { ...wanted.metadata, annotations } }], 'api')
    agent.setPods([])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    const release = world.cri.script.hold('stopContainer')
    const critical = wishing('u-2', '600m')
    agent.setPods([{ ...critical, spec: { ...critical.spec, priority: 2_000_001_000 } }])
    await agent.pass(60_000, 5000)
    const late = agent.lines.filter(({ message }) => message === 'a preempted pod does not end in time')
    assert.deepEqual([late.length, agent.group.signal.aborted], [1, false])
    assert.ok(agent.reasons('u-1').includes('ExceededGracePeriod'))
    release()
    await agent.pass(10_000)
    assert.deepEqual(running(world), ['main'])
    assert.equal(agent.statusOf('u-2')?.phase, 'Running')
  })

  test('never rejects a pod that runs, although the node has become smaller', async () => {
    await using world = await createWorld()
    {
      await using first = await startAgent(world)
      first.setPods([wishing('u-1', '2')])
      await first.settle()
    }
    await using agent = await startAgent(world, { allocatable: small })
    agent.setPods([wishing('u-1', '2')])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })
})
