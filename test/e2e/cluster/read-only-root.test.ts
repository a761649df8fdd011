import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { StandaloneNode } from '../support/standalone-node.ts'
import { testPod } from '../support/test-pod.ts'

test('a node whose root directory is read-only says so, does not fill its log, and goes on when it can be written', async () => {
  await using node = await StandaloneNode.start()
  const root = `${node.state}/kubelet`
  const mount = async (...args: readonly string[]) => {
    const { exitCode, stderr } = await node.lab.runInside(['mount', ...args])
    assert.equal(exitCode, 0, stderr)
  }
  // A mount of its own, before anything is mounted in it.
  await mount('--bind', root, root)
  await node.apply(testPod('before'))
  const { status } = await node.ready('before')
  const readiness = async () => (await node.node()).status?.conditions?.find(({ type }) => type === 'Ready')
  await mount('-o', 'remount,bind,ro', root)
  const notReady = await node.waitFor('the node to be not ready', async () => {
    const ready = await readiness()
    return ready?.status === 'False' ? ready : undefined
  })
  assert.match(notReady.message ?? '', /root directory is not writable: EROFS/)
  const nodeName = (await node.node()).metadata?.name ?? ''
  await node.waitFor('the event', async () => {
    return (await node.events(nodeName)).find(({ reason }) => reason === 'RootDirectoryNotWritable')
  })
  const lines = (await node.agentLog()).length
  await node.apply(testPod('during'))
  await sleep(20_000)
  const written = (await node.agentLog()).slice(lines)
  assert.ok(written.length < 15, `wrote ${written.length} lines in 20 s:\n${written.join('\n')}`)
  await mount('-o', 'remount,bind,rw', root)
  await node.waitFor('the node to be ready', async () => (await readiness())?.status === 'True')
  await node.ready('during')
  const after = await node.ready('before')
  assert.deepEqual(after.status?.containerStatuses, status?.containerStatuses)
})
