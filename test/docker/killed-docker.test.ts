import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TestNode } from '../e2e/support/test-node.ts'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { findRunning } from './find-running.ts'

// From before the sandbox is made until after the last container has started.
const DELAYS_MS = [50, 150, 250, 350, 450, 600, 750, 900, 1100, 1400]
const SLOW_MS = 120_000

test('Docker may be killed at any time of the start or the end of a pod: nothing runs twice, nothing is lost', async (t) => {
  await using node = await TestNode.start({}, 'docker')
  const { manifests, runtime } = node.lab
  await manifests.write('steady', testPod('steady'))
  await node.ready('steady')
  const [steady] = await node.processes()
  const containers = [testContainer('main', scripts.obedient), testContainer('side', scripts.obedient)]

  for (const ms of DELAYS_MS) {
    const name = `starts-${ms}`
    await t.test(`${ms} ms after a pod was asked for`, async () => {
      await manifests.write(name, testPod(name, { containers }))
      await sleep(ms)
      await runtime.restart()
      await node.ready(name, SLOW_MS)
      assert.deepEqual(await findRunning(node, name), { sandboxes: 1, containers: ['main', 'side'], unknown: [] })
    })
    await t.test(`${ms} ms after it was removed`, async () => {
      const pod = await node.ready(name)
      await manifests.remove(name)
      await sleep(ms)
      await runtime.restart()
      await node.gone(pod, SLOW_MS)
      assert.deepEqual(await findRunning(node, name), { sandboxes: 0, containers: [], unknown: [] })
    })
  }
  assert.deepEqual((await node.processes()).get(steady?.[0] ?? ''), steady?.[1], 'a pod without a change was restarted')
})
