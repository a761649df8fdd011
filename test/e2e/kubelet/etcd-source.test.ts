import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

const deckhand = fileURLToPath(import.meta.resolve('../../../bin/deckhand'))
const URL = 'http://127.0.0.1:2379'
const PREFIX = '/registry/nodes/lab/boundpods'

test('pods come from etcd: one for each key or a list; they outlive bad values, the store and the agent', async () => {
  await using node = await TestNode.start({ flags: [`--etcd-servers=${URL}`], config: { staticPodPath: undefined } })
  const { lab } = node
  const ctl = (...args: string[]) => lab.runInside(['env', 'ETCDCTL_API=3', 'etcdctl', `--endpoints=${URL}`, ...args])
  const put = (key: string, value: object | string) =>
    ctl('put', '--', `${PREFIX}${key}`, typeof value === 'string' ? value : JSON.stringify(value))
  const startStore = () =>
    lab.startInside(
      ['etcd', '--data-dir', `${lab.folder}/etcd`, '--listen-client-urls', URL, '--advertise-client-urls', URL],
      `${lab.folder}/etcd.log`,
    )
  const idsOf = async (...names: string[]) =>
    (await Promise.all(names.map((name) => node.running(name)))).flat().map(({ id }) => id)

  await node.logged('cannot follow the pods in etcd, will try again')
  await startStore()
  await node.waitFor('the store', async () => (await ctl('endpoint', 'health')).exitCode === 0)
  await put('/one', testPod('one'))
  const one = await node.ready('one')
  assert.equal(one.metadata.annotations?.['kubernetes.io/config.source'], 'etcd')
  await put('', { apiVersion: 'v1', kind: 'PodList', items: [testPod('two'), testPod('three')] })
  await node.waitFor('all to run', async () => {
    const pods = await node.agent.pods()
    return pods.length === 3 && pods.every(isReady)
  })
  const why = await lab.network.get('http://127.0.0.1:10255/why?pod=one-lab')
  assert.ok(why.body.includes(`etcd key ${PREFIX}/one`), why.body)
  const explained = await lab.runInside([deckhand, 'why', '--root-dir', `${lab.folder}/kubelet`, 'one-lab'])
  assert.match(explained.stdout, /^default\/one-lab: Runs and is ready\n {2}from etcd key /v)

  const before = await idsOf('one', 'two', 'three')
  await put('/one', 'kind: Pod\nmetadata: [')
  await node.logged('cannot use a value of etcd', `${PREFIX}/one`)
  await lab.runInside(['pkill', '-KILL', '-x', 'etcd'])
  await node.logged('cannot follow the pods in etcd, will try again', 'connection')
  await node.agent.kill('SIGKILL')
  await node.startAgent()
  assert.deepEqual(await idsOf('one', 'two', 'three'), before)
  // The agent has only its copies, and looks after these pods too.
  await node.runtime.stopContainer({ containerId: before[1] ?? '', timeout: 0n }, AbortSignal.timeout(10_000))
  await node.waitFor('the container to run again', async () => {
    const [id] = await idsOf('two')
    return id !== undefined && id !== before[1]
  })
  await startStore()
  await node.logged('following the pods in etcd')
  await ctl('del', PREFIX)
  await node.waitFor('the list to go', async () => (await node.running()).length === 1)
  assert.deepEqual(await idsOf('one'), before.slice(0, 1))
})
