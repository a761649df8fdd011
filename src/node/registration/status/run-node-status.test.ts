import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createNodeInfo, createNodeProfile } from '../../../../test/builders/create-node.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { FakeNodeApi, rejection } from '../../../../test/fakes/fake-node-api.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import { KubeUnreachableError } from '../../../protocols/kube-api/kube-client.ts'
import type { Node } from '../../../model/generated/core-v1.ts'
import { computeNodeStatus } from './compute-node-status.ts'
import type { NodeInfo } from './node-info.ts'
import { OwnNodeObject } from '../own-node-object.ts'
import { runNodeStatus } from './run-node-status.ts'
import type { NodeStatusDeps } from './run-node-status.ts'
import { ApiReturn } from '../../../protocols/kube-api/list-watch/api-return.ts'

const away = () => new KubeUnreachableError('no answer')
const NODE_INFO =
  computeNodeStatus({}, { profile: createNodeProfile(), info: createNodeInfo(), time: '' }).node.status?.nodeInfo ??
  assert.fail()
const CREATED = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID']

/** The loop with an API in memory whose watch delivers everything at once. */
function setUp(options: Partial<NodeStatusDeps> = {}) {
  const clock = new FakeClock()
  const api = new FakeNodeApi()
  const wakeup = new Wakeup()
  const reported: string[] = []
  const cidrs: string[] = []
  let info: NodeInfo = createNodeInfo()
  let dropped = 0
  const stop = new AbortController()
  const apiReturn = new ApiReturn()
  const start = async () => {
    const running = runNodeStatus(
      {
        api,
        apiReturn,
        ownNode: new OwnNodeObject(() => api.node),
        profile: createNodeProfile(),
        info: () => info,
        register: true,
        onlyIfExists: false,
        updateFrequencyMs: 10_000,
        reportFrequencyMs: 300_000,
        events: { record: ({ type, reason }) => void reported.push(type === 'Normal' ? reason : `${type} ${reason}`) },
        onPodCidr: (cidr) => void cidrs.push(cidr),
        dropConnections: () => void (dropped += 1),
        wakeup,
        clock,
        log: silentLogger,
        random: () => 0.5,
        ...options,
      },
      stop.signal,
    )
    running.catch(() => {})
    await clock.advance(0)
    return {
      stop: async () => {
        stop.abort(new Error('leave'))
        await assert.rejects(running, /leave/)
        assert.equal(clock.sleeping, 0)
      },
    }
  }
  return {
    clock,
    api,
    apiReturn,
    wakeup,
    reported,
    cidrs,
    start,
    dropped: () => dropped,
    set: (parts: Partial<NodeInfo>) => (info = createNodeInfo(parts)),
    /** What was asked since the last call. */
    calls: () => api.calls.splice(0),
  }
}

const change = (node: Node | undefined, spec: Node['spec']): Node => ({
  ...node,
  metadata: { ...node?.metadata, resourceVersion: `${node?.metadata?.resourceVersion}+` },
  spec,
})

describe('runNodeStatus()', () => {
  test('makes the node, and then is quiet', async () => {
    const { start, clock, calls, reported } = setUp()
    const loop = await start()
    assert.deepEqual([calls(), reported], [['createNode'], ['Starting', ...CREATED]])
    await clock.advance(299_000)
    assert.deepEqual(calls(), [])
    await loop.stop()
  })

  test('reports although nothing changes: the first time after a shifted, then after a fixed time', async () => {
    const { start, clock, calls } = setUp({ random: () => 0 })
    const loop = await start()
    calls()
    const reports: number[] = []
    for (let seconds = 10; seconds <= 900; seconds += 10) {
      await clock.advance(10_000)
      if (calls().length > 0) reports.push(seconds)
    }
    assert.deepEqual(reports, [150, 450, 750])
    await loop.stop()
  })

  test('is neither silent nor busy when the clock is set, and no condition changes', async () => {
    const { start, clock, calls, reported, api } = setUp({ random: () => 0 })
    const loop = await start()
    const since = () => api.node?.status?.conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])
    const before = since()
    for (const hours of [5, -10]) {
      calls()
      reported.length = 0
      clock.step(hours * 3_600_000)
      await clock.advance(600_000)
      assert.deepEqual([calls(), reported, since()], [['patchNodeStatus', 'patchNodeStatus'], [], before])
    }
    await loop.stop()
  })

  test('checks at once when it is woken, and reports each change once', async () => {
    const { start, clock, calls, set, wakeup, reported, api } = setUp()
    const loop = await start()
    calls()
    reported.length = 0
    set({ problems: ['container runtime is down'] })
    wakeup.wake()
    await clock.advance(0)
    assert.deepEqual([calls(), reported.splice(0)], [['patchNodeStatus'], ['NodeNotReady']])
    const [patched] = api.patches.slice(-1)
    assert.deepEqual(Object.keys(patched ?? {}), ['status'])
    assert.equal(api.node?.status?.conditions?.at(-1)?.message, 'container runtime is down')
    set({})
    await clock.advance(10_200)
    assert.deepEqual([calls(), reported.splice(0)], [['patchNodeStatus'], ['NodeReady']])
    await loop.stop()
  })

  test('corrects an existing node, and keeps what other clients changed', async () => {
    const { start, api, calls, reported } = setUp({ profile: createNodeProfile({ labels: { custom: 'x' } }) })
    api.node = {
      metadata: { name: 'node-1', resourceVersion: '0', labels: { 'kubernetes.io/arch': 'arm64' } },
      spec: { unschedulable: true, podCIDRs: ['10.1.0.0/24'] },
      status: {
        nodeInfo: { ...NODE_INFO, bootID: 'b-0' },
        conditions: [{ type: 'Ready', status: 'Unknown' }],
      },
    }
    const loop = await start()
    assert.deepEqual(calls(), ['createNode', 'getNode', 'patchNodeStatus', 'patchNodeStatus'])
    assert.deepEqual(reported, ['Starting', 'NodeNotSchedulable', ...CREATED, 'NodeReady', 'Warning Rebooted'])
    assert.deepEqual(
      [api.node.metadata?.labels?.['kubernetes.io/arch'], api.node.metadata?.labels?.['custom']],
      ['amd64', undefined],
    )
    await loop.stop()
  })

  test('takes a node that it may not make', async () => {
    const { start, api, calls } = setUp()
    api.node = { metadata: { name: 'node-1' } }
    api.failures.push(rejection(403, 'Forbidden'))
    const loop = await start()
    assert.deepEqual(calls().slice(0, 3), ['createNode', 'getNode', 'patchNodeStatus'])
    await loop.stop()
  })

  test('has no node where it may not make one and looks for none', async () => {
    const { start, api, clock, calls } = setUp({ onlyIfExists: true })
    api.node = { metadata: { name: 'node-1' } }
    api.failures.push(rejection(403, 'Forbidden'), rejection(409, 'AlreadyExists'))
    const loop = await start()
    assert.deepEqual(calls(), ['createNode'])
    await clock.advance(1000)
    assert.deepEqual(calls().slice(0, 3), ['createNode', 'getNode', 'patchNodeStatus'])
    await loop.stop()
  })

  test('tries to register until it is done, more and more slowly', async () => {
    const { start, api, clock, calls } = setUp()
    api.failures.push(...Array.from({ length: 9 }, away))
    const loop = await start()
    const times: number[] = []
    for (let ms = 0; ms <= 27_000; ms += 100) {
      if (calls().includes('createNode')) times.push(ms)
      await clock.advance(100)
    }
    assert.deepEqual(times, [0, 100, 300, 700, 1500, 3100, 6300, 12_700, 19_700, 26_700])
    await loop.stop()
  })

  test('does not register when that is switched off', async () => {
    const { start, api, calls } = setUp({ register: false })
    const loop = await start()
    assert.deepEqual([calls(), api.node], [['getNode'], undefined])
    await loop.stop()
  })

  test('does not create a node again that was deleted', async () => {
    const { start, api, clock, calls } = setUp()
    const loop = await start()
    calls()
    api.node = undefined
    await clock.advance(30_600)
    assert.deepEqual([calls(), api.node], [['getNode', 'getNode', 'getNode'], undefined])
    await loop.stop()
  })

  test('registers at once when the API answers others', async () => {
    const { start, clock, api, apiReturn, calls } = setUp()
    api.failures.push(...Array.from({ length: 9 }, away))
    const loop = await start()
    await clock.advance(20_000)
    api.failures.length = 0
    calls()
    apiReturn.reached()
    await clock.advance(0)
    assert.deepEqual(calls(), ['createNode'])
    await loop.stop()
  })

  test('asks for the node after a failure, and gives up for this time after five', async () => {
    const { start, api, clock, calls, set, dropped } = setUp()
    const loop = await start()
    calls()
    set({ problems: ['x'] })
    api.failures.push(rejection(500, 'InternalError'), away(), undefined, away(), rejection(409, 'Conflict'))
    await clock.advance(10_200)
    assert.deepEqual(calls(), [
      'patchNodeStatus',
      'getNode',
      'getNode',
      'patchNodeStatus',
      'getNode',
      'getNode',
      'patchNodeStatus',
    ])
    assert.equal(dropped(), 2, 'only where the API was silent, and not at the first time')
    api.failures.push(...Array.from({ length: 5 }, away))
    set({})
    await clock.advance(10_200)
    assert.deepEqual(calls(), ['patchNodeStatus', ...Array<string>(4).fill('getNode')])
    await clock.advance(10_200)
    assert.deepEqual(calls(), ['patchNodeStatus'])
    await loop.stop()
  })

  test('puts labels right that a node cannot be without', async () => {
    const { start, api, clock } = setUp()
    const loop = await start()
    api.node = {
      ...api.node,
      metadata: { name: 'node-1', labels: { 'kubernetes.io/os': 'plan9' }, resourceVersion: 'x' },
    }
    await clock.advance(10_200)
    assert.deepEqual(api.node.metadata?.labels, { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' })
    await loop.stop()
  })

  test('passes on the pod CIDR, and says whether the node takes pods', async () => {
    const { start, api, clock, cidrs, reported } = setUp()
    const loop = await start()
    reported.length = 0
    for (const spec of [
      { podCIDRs: ['10.0.1.0/24', 'fd00::/64'], unschedulable: true },
      { podCIDRs: ['10.0.1.0/24', 'fd00::/64'] },
      { podCIDRs: ['10.0.2.0/24'] },
      {},
    ]) {
      api.node = change(api.node, spec)
      await clock.advance(10_200)
    }
    assert.deepEqual(
      [cidrs, reported],
      [
        ['10.0.1.0/24,fd00::/64', '10.0.2.0/24'],
        ['NodeNotSchedulable', 'NodeSchedulable'],
      ],
    )
    await loop.stop()
  })

  test('does not write again what its watch has not delivered yet', async () => {
    const old: Node = { metadata: { name: 'node-1', resourceVersion: '0' } }
    const ownNode = new OwnNodeObject(() => old)
    const { start, api, clock, calls } = setUp({ ownNode })
    api.node = old
    const loop = await start()
    calls()
    await clock.advance(30_600)
    assert.deepEqual(calls(), [])
    await loop.stop()
  })
})
