import assert from 'node:assert/strict'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

const server = fileURLToPath(new URL('../support/manifest-server.ts', import.meta.url))

test('pods come from a URL: one, a list, what was while it fails, none', async () => {
  const config = {
    staticPodPath: undefined,
    staticPodURL: 'http://127.0.0.1:8099/pods',
    staticPodURLHeader: { 'X-Node': ['lab'] },
    httpCheckFrequency: '1s',
  }
  await using node = await TestNode.start({ config })
  const [answerFile, log] = [`${node.lab.folder}/answer`, `${node.lab.folder}/server.log`]
  const answer = async (status: number, body: object | string) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    await writeFile(`${answerFile}.new`, `${status} ${text}`)
    await rename(`${answerFile}.new`, answerFile)
  }
  const list = (...names: string[]) => ({
    apiVersion: 'v1',
    kind: 'PodList',
    items: names.map((name) => testPod(name)),
  })
  const podNames = async () => (await node.agent.pods()).map(({ metadata }: Pod) => metadata.name).toSorted()

  // No server listens yet.
  await node.logged('cannot take pods from the URL')
  await answer(200, testPod('one'))
  await node.lab.startInside([process.execPath, server, '8099', answerFile], log)
  const one = await node.ready('one')
  assert.equal(one.metadata.annotations?.['kubernetes.io/config.source'], 'http')
  assert.match(await readFile(log, 'utf8'), /^(lab\n)+$/)

  await answer(200, list('two', 'three'))
  await node.waitFor('the list to run', async () => {
    const pods = await node.agent.pods()
    return pods.length === 2 && pods.every(isReady)
  })
  assert.deepEqual(await podNames(), ['three-lab', 'two-lab'])

  const idsOf = async (name: string) => (await node.running(name)).map(({ id }) => id)
  const before = [await idsOf('two'), await idsOf('three')]
  await answer(500, 'out of order')
  await node.logged('status 500')
  await answer(200, 'kind: Pod\nmetadata: [')
  await node.logged('cannot take pods from the URL', 'reason=["')
  assert.deepEqual(await podNames(), ['three-lab', 'two-lab'])
  assert.deepEqual([await idsOf('two'), await idsOf('three')], before)
  await answer(200, '')
  await node.waitFor('all pods to go', async () => (await node.agent.pods()).length === 0)
  await node.waitFor('all workloads to end', async () => (await node.running()).length === 0)
})
