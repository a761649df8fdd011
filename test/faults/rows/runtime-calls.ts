import assert from 'node:assert/strict'
import { listShims } from '../../e2e/support/list-shims.ts'
import { scripts, testContainer, testPod } from '../../e2e/support/test-pod.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { Invariant, MadeFault } from '../fault-row.ts'
import type { ProxiedNode } from '../proxied-node.ts'

const ALL: readonly Invariant[] = ['once', 'kept', 'steady', 'lives', 'status', 'handles']
const KILLS = 12
// From before the runtime has begun until after it has done it.
const LONGEST_START_MS = 150
// A relist each second, times in whole seconds, and a busy machine.
const LATEST_RESTART_MS = 4000

/** A pod that gets its turn while calls break; it is started once all the same, and goes. */
async function startOnce({ node }: ProxiedNode, name: string): Promise<void> {
  await node.lab.manifests.write(name, testPod(name))
  const pod = await node.ready(name)
  await checkOneStart(node, name)
  assert.equal((await node.running(name)).length, 1)
  await node.lab.manifests.remove(name)
  await node.gone(pod)
}

/** A container runs a moment before its program says so in its log. */
async function checkOneStart(node: ProxiedNode['node'], name: string): Promise<void> {
  await node.waitFor('the log', async () => (await node.starts(name)) > 0)
  assert.equal(await node.starts(name), 1, 'starts')
}

/** When the first instance of a container ended and the second began; undefined until it has. */
function restartOf({ status }: Pod) {
  const [main] = status?.containerStatuses ?? []
  const { finishedAt } = main?.lastState?.terminated ?? {}
  const startedAt = main?.state?.running?.startedAt ?? main?.state?.terminated?.startedAt
  return main?.restartCount === 1 && finishedAt && startedAt ? { finishedAt, startedAt } : undefined
}

export const runtimeCalls: readonly MadeFault<ProxiedNode>[] = [
  {
    name: 'lost-replies',
    fault: 'a call is done and its answer is lost',
    injection: 'a proxy breaks the connection after the runtime has made a sandbox, made a container, or started it',
    invariants: ALL,
    quick: true,
    async run(ground) {
      for (const method of ['RunPodSandbox', 'CreateContainer', 'StartContainer']) {
        ground.proxy.break(method, { kind: 'lose reply' }, 1)
        await startOnce(ground, `lost-${method.toLowerCase()}`)
        ground.proxy.heal()
      }
      await ground.steady.verify()
    },
  },
  {
    name: 'slow-calls',
    fault: 'every call that changes something takes longer',
    injection: 'a proxy holds each of them for 300 ms',
    invariants: ALL,
    quick: true,
    async run(ground) {
      for (const method of ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer', 'RemoveContainer'])
        ground.proxy.break(method, { kind: 'delay', ms: 300 })
      await startOnce(ground, 'slow')
      ground.proxy.heal()
      await ground.steady.verify()
    },
  },
  {
    name: 'hung-call',
    fault: 'one call about one pod is never answered',
    injection: 'a proxy keeps one call that makes a container; another pod comes and goes meanwhile',
    invariants: ALL,
    quick: true,
    async run(ground) {
      const { node, proxy, steady } = ground
      proxy.break('CreateContainer', { kind: 'hang' }, 1)
      const before = proxy.count('CreateContainer')
      await node.lab.manifests.write('hung', testPod('hung'))
      await node.waitFor('the call', async () => proxy.count('CreateContainer') > before)
      await startOnce(ground, 'beside-hung')
      await steady.verify()
      // A new connection ends what hangs.
      proxy.dropConnections()
      const pod = await node.ready('hung')
      await checkOneStart(node, 'hung')
      await node.lab.manifests.remove('hung')
      await node.gone(pod)
    },
  },
  {
    name: 'silent-events',
    fault: 'the runtime takes the call for its events and never sends one',
    injection:
      'a proxy keeps the call; a pod whose container ends by itself is restarted no later than by a relist every second',
    invariants: ALL,
    quick: true,
    async run({ node, proxy, steady }) {
      proxy.break('GetContainerEvents', { kind: 'hang' })
      proxy.dropConnections()
      const streams = async () => (await node.agent.log()).filter((line) => line.includes('events are streaming'))
      const { length } = await streams()
      await node.waitFor('the silent stream', async () => (await streams()).length > length)
      const containers = [testContainer('main', scripts.exits(1, 3))]
      await node.lab.manifests.write('ends', testPod('ends', { containers }))
      const pod = await node.podIs('ends', 'restarted', (found) => restartOf(found) !== undefined)
      const { finishedAt = '', startedAt = '' } = restartOf(pod) ?? {}
      const lateMs = Date.parse(startedAt) - Date.parse(finishedAt)
      assert.ok(lateMs <= LATEST_RESTART_MS, `restarted after ${lateMs} ms`)
      await node.logged('the runtime did not report what a container did, relying on relists')
      await node.lab.manifests.remove('ends')
      await node.gone(pod)
      proxy.heal()
      proxy.dropConnections()
      await steady.verify()
    },
  },
  {
    name: 'killed-in-start',
    fault: 'the agent is killed while the runtime starts a container',
    injection: `SIGKILL at a random time after StartContainer has passed the proxy, ${KILLS} times; the runtime breaks off what it does, so that the init container may begin twice`,
    invariants: ['regular', 'kept', 'steady', 'status', 'clean'],
    quick: false,
    async run({ node, proxy, steady }, { say }) {
      const shims = (await listShims(node.lab)).length
      for (let kill = 0; kill < KILLS; kill += 1) {
        const name = `killed-${kill}`
        const initContainers = [testContainer('prepare', scripts.exits(0, 0.1))]
        const { agent } = node
        const died = Promise.withResolvers<void>()
        const act = () => void agent.kill('SIGKILL').then(() => died.resolve())
        proxy.break('StartContainer', { kind: 'act', afterMs: Math.random() * LONGEST_START_MS, act }, 1)
        await node.lab.manifests.write(name, testPod(name, { initContainers }))
        await died.promise
        await node.startAgent()
        const pod = await node.ready(name)
        const starts = await node.starts(name, 'prepare')
        if (starts !== 1) say(`the first container of "${name}" began ${starts} times`)
        assert.ok(starts <= 2 && (await node.starts(name)) === 1, `${starts} starts`)
        await node.lab.manifests.remove(name)
        await node.gone(pod)
      }
      proxy.heal()
      await node.waitFor('the shims to end', async () => (await listShims(node.lab)).length === shims)
      assert.equal((await node.containers()).length, 2)
      await steady.verify({ isNewAgent: true })
      await steady.begin()
    },
  },
]
