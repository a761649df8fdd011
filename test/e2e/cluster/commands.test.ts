import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { StandaloneNode } from '../support/standalone-node.ts'
import { isReady } from '../support/test-node.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'

describe('the commands of deckhand know the pods of the API', () => {
  let node: StandaloneNode
  before(async () => {
    node = await StandaloneNode.start()
  })
  after(async () => await node[Symbol.asyncDispose]())

  test('why: what a pod waits for, and what was done for it', async () => {
    const volumes = [{ name: 'menu', configMap: { name: 'menu' } }]
    const volumeMounts = [{ name: 'menu', mountPath: '/menu' }]
    const containers = [testContainer('main', scripts.obedient, { volumeMounts })]
    await node.apply(testPod('hungry', { volumes, containers }))
    await node.waitFor('the reason', async () => {
      return /^default\/hungry: .*menu.*\n/.test((await node.deckhand('why', 'hungry')).stdout)
    })
    await node.kubectl('create', 'configmap', 'menu')
    await node.ready('hungry')
    const { exitCode, stdout } = await node.deckhand('why', 'hungry')
    assert.equal(exitCode, 0)
    assert.match(stdout, /^default\/hungry: Runs and is ready\n( {2}\d\d:\d\d:\d\d\.\d{3} +\S+ s {2}.+\n)+/)
    assert.equal((await node.deckhand('why', 'nobody')).exitCode, 1)
  })

  test('status: the pods, and the line for kubectl', async () => {
    const { exitCode, stdout } = await node.deckhand('status')
    assert.equal(exitCode, 0)
    assert.match(stdout, /default\/hungry +yes +Running +0/)
    const [, ...kubectl] = (/^kubectl +(.*)$/m.exec(stdout)?.[1] ?? '').split(' ')
    const listed = await node.lab.runInside(['kubectl', ...kubectl])
    assert.equal(listed.exitCode, 0, listed.stderr)
    assert.match(listed.stdout, /default +hungry +1\/1 +Running/)
    assert.match(await node.output(), new RegExp(`export KUBECONFIG=${node.state}/admin.kubeconfig`))
  })

  test('down and up: objects are kept, and their pods run again', async () => {
    const containers = [testContainer('main', scripts.exits(4))]
    await node.apply(testPod('done', { restartPolicy: 'Never', containers }))
    const done = await node.podIs('done', 'done', ({ status }) => status?.phase === 'Failed')
    const before = await node.ready('hungry')
    const down = await node.deckhand('down')
    assert.equal(down.exitCode, 0, down.stderr)
    assert.deepEqual(await node.running(), [])
    await node.up()
    const [id] = before.status?.containerStatuses?.map(({ containerID }) => containerID) ?? []
    const again = await node.podIs('hungry', 'ready in another container', (pod) => {
      return isReady(pod) && pod.status?.containerStatuses?.[0]?.containerID !== id
    })
    assert.equal(again.metadata.uid, before.metadata.uid)
    const { metadata, status } = await node.podIs('done', 'there', () => true)
    assert.equal(metadata.uid, done.metadata.uid)
    assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.state?.terminated?.exitCode], ['Failed', 4])
    assert.equal((await node.running(metadata.uid)).length, 0)
  })

  test('shutdown: pods end, the node is not ready and takes none, until that is cancelled', async () => {
    const ready = async () =>
      (
        await node.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].status.conditions[?(@.type=="Ready")].status}')
      ).trim()
    const { exitCode, stdout, stderr } = await node.deckhand('shutdown')
    assert.equal(exitCode, 0, stderr)
    assert.match(stdout, /^ending \d+ pods? of priority 0 and above\n/)
    // Its container ends well when it is asked to.
    const { status } = await node.podIs('hungry', 'ended', (pod) => pod.status?.phase === 'Succeeded')
    const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
    assert.equal(disruption?.reason, 'TerminationByKubelet')
    await node.waitFor('the node to say so', async () => (await ready()) === 'False')
    await node.apply(testPod('late'))
    const late = await node.podIs('late', 'rejected', (pod) => pod.status?.phase === 'Failed')
    assert.equal(late.status?.reason, 'NodeShutdown')
    const cancelled = await node.deckhand('shutdown', '--cancel')
    assert.equal(cancelled.stdout, 'The shutdown is cancelled; the node takes pods again.\n')
    await node.waitFor('the node to be ready', async () => (await ready()) === 'True')
    await node.apply(testPod('next'))
    await node.ready('next')
  })
})
