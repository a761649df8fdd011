import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

describe('init containers', { concurrency: true }, () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start()))
  after(() => node[Symbol.asyncDispose]())

  test('run one after the other, before the others', async () => {
    const initContainers = ['one', 'two'].map((name) => testContainer(name, scripts.exits(0, 0.3)))
    await node.lab.manifests.write('steps', testPod('steps', { initContainers }))
    const pod = await node.ready('steps')
    const ends = (pod.status?.initContainerStatuses ?? []).map(({ name, ready, restartCount, state }) => {
      return { name, ready, restartCount, exitCode: state?.terminated?.exitCode }
    })
    assert.deepEqual(ends, [
      { name: 'one', ready: true, restartCount: 0, exitCode: 0 },
      { name: 'two', ready: true, restartCount: 0, exitCode: 0 },
    ])
    const [one, two, main] = await Promise.all(
      ['one', 'two', 'main'].map(async (name) => (await node.logLines(pod, name))[0]?.at ?? 0),
    )
    assert.ok((one ?? 0) + 300 <= (two ?? 0) && (two ?? 0) + 300 <= (main ?? 0), `${one} ${two} ${main}`)
  })

  test('that fail keep the pod from starting, and end it under restart policy Never', async () => {
    const initContainers = [testContainer('one', scripts.exits(9))]
    await node.lab.manifests.write('stuck', testPod('stuck', { initContainers }))
    await node.lab.manifests.write('failed', testPod('failed', { initContainers, restartPolicy: 'Never' }))
    const failed = await node.podIs('failed', 'Failed', ({ status }) => status?.phase === 'Failed')
    assert.equal(failed.status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 9)
    const stuck = await node.podIs('stuck', 'waiting', ({ status }) => {
      return status?.initContainerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff'
    })
    assert.equal(stuck.status?.phase, 'Pending')
    assert.equal(stuck.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'PodInitializing')
    assert.deepEqual([await node.starts('stuck'), await node.starts('failed')], [0, 0])
  })

  test('that are sidecars run beside the others and stop last', async () => {
    const sidecar = (name: string) => testContainer(name, scripts.obedient, { restartPolicy: 'Always' })
    // It needs a moment to end, so that a sidecar which did not wait would be stopped too early.
    const slow = scripts.obedient.replace('exit 0', 'sleep 0.5; exit 0')
    const spec = { initContainers: [sidecar('outer'), sidecar('inner')], containers: [testContainer('main', slow)] }
    await node.lab.manifests.write('cars', testPod('cars', spec))
    const pod = await node.ready('cars')
    const names = ['main', 'inner', 'outer']
    const timeOf = async (name: string, what: string) => {
      return (await node.logLines(pod, name)).find(({ text }) => text.startsWith(what))?.at
    }
    // The runtime may read what they say a moment later.
    const allTimesOf = async (what: string) =>
      await node.waitFor(`all to have said "${what}"`, async () => {
        const times = (await Promise.all(names.map((name) => timeOf(name, what)))).filter((time) => time !== undefined)
        return times.length === names.length ? times : undefined
      })
    const started = await allTimesOf('started')
    assert.deepEqual(
      started.toSorted((one, other) => other - one),
      started,
    )
    await node.lab.manifests.remove('cars')
    const [main = 0, inner = 0, outer = 0] = await allTimesOf('term')
    assert.ok(main + 500 <= inner && inner <= outer, `${main} ${inner} ${outer}`)
  })

  test('that are sidecars end with a pod that is done', async () => {
    const spec = {
      restartPolicy: 'Never',
      initContainers: [testContainer('car', scripts.obedient, { restartPolicy: 'Always' })],
      containers: [testContainer('main', scripts.exits(0))],
    }
    await node.lab.manifests.write('job', testPod('job', spec))
    const pod = await node.podIs('job', 'Succeeded', ({ status }) => status?.phase === 'Succeeded')
    await node.waitFor('the sidecar to end', async () => (await node.running('job')).length === 0)
    assert.deepEqual(
      (await node.logLines(pod, 'car')).map(({ text }) => text.split(' ')[0]),
      ['started', 'term'],
    )
  })
})
