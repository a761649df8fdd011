import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { isReady, TestNode } from '../support/test-node.ts'

describe('a changed manifest', { concurrency: true }, () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start()))
  after(() => node[Symbol.asyncDispose]())

  /** A pod that needs a second to end, and says by an environment variable which version it is. */
  const version = (name: string, value: string) => {
    const script = scripts.obedient.replace('exit 0', 'sleep 1; exit 0')
    return testPod(name, { containers: [testContainer('main', script, { env: [{ name: 'VERSION', value }] })] })
  }
  const versionOf = ({ spec }: Pod) => spec.containers[0]?.env?.[0]?.value

  test('replaces the pod, and never runs both', async () => {
    await node.lab.manifests.write('app', version('app', 'one'))
    const one = await node.ready('app')
    let most = 0
    const watching = new AbortController()
    const watch = (async () => {
      while (!watching.signal.aborted) {
        most = Math.max(most, (await node.running('app')).length)
        await sleep(10)
      }
    })()
    await node.lab.manifests.write('app', version('app', 'two'))
    const two = await node.podIs('app', 'replaced', (pod) => isReady(pod) && versionOf(pod) === 'two')
    watching.abort()
    await watch
    assert.notEqual(two.metadata.uid, one.metadata.uid)
    assert.equal(most, 1)
    const ended = (await node.logLines(one)).find(({ text }) => text.startsWith('term '))
    // The runtime writes the log by and by.
    const began = await node.waitFor(
      'the first line of the new one',
      async () => (await node.logLines(two))[0] ?? false,
    )
    assert.ok((ended?.at ?? 0) + 1000 <= began.at, `${ended?.at} ${began.at}`)
    assert.equal(two.status?.containerStatuses?.[0]?.restartCount, 0)
  })

  test('of a pod with a port of the node replaces it: the old version does not count against the new one', async () => {
    const onNode = (value: string) => {
      const pod = version('port', value)
      const containers = pod.spec.containers.map((each) => ({ ...each, ports: [{ containerPort: 4534 }] }))
      return { ...pod, spec: { ...pod.spec, hostNetwork: true, containers } }
    }
    await node.lab.manifests.write('port', onNode('one'))
    await node.ready('port')
    await node.lab.manifests.write('port', onNode('two'))
    await node.podIs('port', 'replaced', (pod) => isReady(pod) && versionOf(pod) === 'two')
  })

  test('that changes twice quickly ends with the last one', async () => {
    await node.lab.manifests.write('fast', version('fast', 'one'))
    await node.ready('fast')
    for (const value of ['two', 'three', 'four']) {
      await node.lab.manifests.write('fast', version('fast', value))
      await sleep(100)
    }
    await node.podIs('fast', 'replaced', (pod) => isReady(pod) && versionOf(pod) === 'four')
    assert.equal((await node.running('fast')).length, 1)
    assert.equal((await node.agent.pods()).filter(({ metadata }) => metadata.name === 'fast-lab').length, 1)
  })

  test('of a pod that another file has already does not disturb it', async () => {
    await node.lab.manifests.write('b-first', version('twin', 'one'))
    const first = await node.ready('twin')
    // Also before the first in the order of names: a pod that runs stays.
    await node.lab.manifests.write('a-second', version('twin', 'two'))
    await node.logged('two manifests have a pod of the same name', 'a-second.json', 'b-first.json')
    await node.logged('"event"', 'twin-lab', 'duplicate pod name')
    const twin = await node.agent.pod('twin')
    assert.equal(twin?.metadata.uid, first.metadata.uid)
    assert.equal((await node.running('twin')).length, 1)
    assert.equal(await node.starts('twin'), 1)
  })

  test('that is moved away and back ends the pod and runs it again', async () => {
    await node.lab.manifests.write('moved', version('moved', 'one'))
    const before = await node.ready('moved')
    const [container] = await node.running('moved')
    const [home, away] = [`${node.lab.manifests.folder}/moved.json`, `${node.lab.folder}/moved.json`]
    await rename(home, away)
    await node.waitFor('the workload to be signalled', async () => {
      return (await node.logLines(before)).some(({ text }) => text.startsWith('term '))
    })
    await rename(away, home)
    const again = await node.podIs('moved', 'running again', (pod) => {
      const id = pod.status?.containerStatuses?.[0]?.containerID
      return isReady(pod) && id !== undefined && id !== `${node.lab.runtime.name}://${container?.id}`
    })
    assert.equal(again.metadata.uid, before.metadata.uid)
    assert.equal(again.status?.containerStatuses?.[0]?.restartCount, 1)
    assert.equal((await node.running('moved')).length, 1)
  })

  test('that is removed and written again at once, as it was, restarts the pod', async () => {
    await node.lab.manifests.write('same', version('same', 'one'))
    const before = await node.ready('same')
    const path = `${node.lab.manifests.folder}/same.json`
    const content = readFileSync(path)
    rmSync(path)
    writeFileSync(path, content)
    const restarts = ({ status }: Pod) => status?.containerStatuses?.[0]?.restartCount
    const again = await node.podIs('same', 'restarted', (pod) => isReady(pod) && restarts(pod) === 1)
    assert.equal(again.metadata.uid, before.metadata.uid)
  })
})
