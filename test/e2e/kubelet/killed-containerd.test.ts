import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

const AWAY_MS = 3000

test('pods live through a kill of the runtime, and are managed again when it is back', async () => {
  await using node = await TestNode.start()
  const { runtime, manifests } = node.lab
  const names = ['one', 'two', 'three']
  for (const name of names) await manifests.write(name, testPod(name))
  for (const name of names) await node.ready(name)
  await node.logged('runtime events are streaming')
  const processes = await node.processes()
  assert.equal(processes.size, names.length)

  const seen: string[] = []
  const watching = new AbortController()
  const watch = (async () => {
    while (!watching.signal.aborted) {
      for (const pod of await node.agent.pods()) seen.push(describe(pod))
      await sleep(50)
    }
  })()
  // Of two failures the first one is worth reporting.
  watch.catch(() => {})
  const logged = (await node.agent.log()).length
  await runtime.kill9()
  const saidSince = async (text: string) => (await node.agent.log()).slice(logged).some((line) => line.includes(text))
  await node.waitFor('the agent to say that the node is not ready', () => saidSince('"node is not ready"'))
  // What is asked for while the runtime is away is done when it is back.
  await manifests.write('late', testPod('late'))
  await sleep(AWAY_MS)
  for (const pid of processes.values()) assert.ok(await node.lab.outerPid(pid), 'a workload died with the runtime')
  await runtime.start()
  await node.waitFor('the agent to say that the node is ready', () => saidSince('"node is ready"'))
  await node.ready('late')
  watching.abort()
  await watch
  assert.deepEqual([...new Set(seen.filter((text) => !text.startsWith('late-')))].toSorted(), [
    'one-lab Running ready 0',
    'three-lab Running ready 0',
    'two-lab Running ready 0',
  ])

  const now = await node.processes()
  for (const [id, pid] of processes) assert.equal(now.get(id), pid)
  await node.waitFor('the events to stream again', async () => {
    return (await node.agent.log()).slice(logged).some((line) => line.includes('runtime events are streaming'))
  })
  // One line reports the trouble, however long it lasts.
  const reported = (await node.agent.log()).filter((line) => line.includes('"cannot relist the runtime'))
  assert.equal(reported.length, 1)
  const [one] = await node.running('one')
  await node.killProcess(one?.id ?? '')
  const restarted = await node.podIs(
    'one',
    'restarted',
    (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 1,
  )
  assert.equal(restarted.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137)
  await manifests.remove('two')
  await node.waitFor('a removed pod to end', async () => (await node.running('two')).length === 0)
})

function describe(pod: Pod): string {
  const restarts = pod.status?.containerStatuses?.[0]?.restartCount
  return `${pod.metadata.name} ${pod.status?.phase} ${isReady(pod) ? 'ready' : 'not ready'} ${restarts}`
}
