import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

const PODS = 100

test(`${PODS} pods at once all become ready, each started once`, async () => {
  await using node = await TestNode.start()
  const names = Array.from({ length: PODS }, (_, index) => `p${index}`)
  await Promise.all(names.map((name) => node.lab.manifests.write(name, testPod(name))))
  const pods = await node.waitFor(
    'all pods to be ready',
    async () => {
      const pods = await node.agent.pods()
      return pods.length === PODS && pods.every(isReady) ? pods : undefined
    },
    120_000,
  )
  assert.deepEqual(pods.map(({ metadata }) => metadata.name).toSorted(), names.map((name) => `${name}-lab`).toSorted())
  assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, PODS)
  assert.equal((await node.containers()).length, PODS)
  const starts = await Promise.all(names.map(async (name) => [name, await node.starts(name)]))
  assert.deepEqual(
    starts.filter(([, count]) => count !== 1),
    [],
  )
})
