import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ContainerStatus } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const mainOf = (pod: Pod): ContainerStatus | undefined => pod.status?.containerStatuses?.[0]
const isWaiting = (pod: Pod) => mainOf(pod)?.state?.waiting?.reason === 'CrashLoopBackOff'
const restartsOf = (pod: Pod) => mainOf(pod)?.restartCount ?? 0

describe('a container that ends', { concurrency: true }, () => {
  let node: TestNode
  let bounded: TestNode
  const nodes = new AsyncDisposableStack()
  before(async () => {
    node = nodes.use(await TestNode.start())
    bounded = nodes.use(await TestNode.start({ config: { crashLoopBackOff: { maxContainerRestartPeriod: '2s' } } }))
  })
  after(() => nodes.disposeAsync())

  test('is restarted at once, then after ten seconds', async () => {
    const script = 'echo started $EPOCHREALTIME; printf "out of cheese" > /dev/termination-log; exit 7'
    const pod = testPod('crash', { containers: [testContainer('main', script)] })
    const writtenAt = await node.lab.manifests.write('crash', pod)
    const waiting = await node.podIs(
      'crash',
      'waiting after its restart',
      (pod) => isWaiting(pod) && restartsOf(pod) === 1,
    )
    const status = mainOf(waiting)
    assert.match(
      status?.state?.waiting?.message ?? '',
      /^back-off 10s restarting failed container=main pod=crash-lab_default\([0-9a-f]+\)$/,
    )
    assert.equal(status?.ready, false)
    const { exitCode, reason, message } = status?.lastState?.terminated ?? {}
    assert.deepEqual([exitCode, reason, message], [7, 'Error', 'out of cheese'])
    assert.equal(waiting.status?.phase, 'Running')
    // The line comes a moment after the start that the runtime reports.
    const startOf = (restarts: number) =>
      node.waitFor(`the log of start ${restarts}`, async () => (await node.logLines(waiting, 'main', restarts))[0]?.at)
    const second = await startOf(1)
    await node.podIs('crash', 'restarted again', (pod) => restartsOf(pod) === 2)
    const third = await startOf(2)
    assert.ok(second - writtenAt < 8000, `first restart after ${second - writtenAt} ms`)
    assert.ok(third - second > 9500 && third - second < 15_000, `second restart after ${third - second} ms`)
  })

  for (const [restartPolicy, code, phase] of [
    ['Never', 0, 'Succeeded'],
    ['Never', 3, 'Failed'],
    ['OnFailure', 0, 'Succeeded'],
  ] as const) {
    test(`with ${code} and restart policy ${restartPolicy} makes its pod ${phase}`, async () => {
      const name = `${restartPolicy}-${code}`.toLowerCase()
      const spec = { restartPolicy, containers: [testContainer('main', scripts.exits(code))] }
      await node.lab.manifests.write(name, testPod(name, spec))
      const ended = await node.podIs(name, phase, ({ status }) => status?.phase === phase)
      assert.equal(mainOf(ended)?.state?.terminated?.exitCode, code)
      assert.equal(restartsOf(ended), 0)
      // The sandbox goes down with the pod; nothing may start it again.
      await node.logged('"pod ended"', `default/${name}-lab`)
      assert.equal(await node.starts(name), 1)
      assert.deepEqual(await node.running(name), [])
    })
  }

  test('with restart policy OnFailure is restarted until it ends well', async () => {
    // Shared memory belongs to the pod, so a later instance finds what an earlier one left there.
    const script = 'test -e /dev/shm/again && exit 0; touch /dev/shm/again; exit 4'
    const spec = { restartPolicy: 'OnFailure', containers: [testContainer('main', script)] }
    await node.lab.manifests.write('twice', testPod('twice', spec))
    const pod = await node.podIs('twice', 'Succeeded', ({ status }) => status?.phase === 'Succeeded')
    assert.equal(restartsOf(pod), 1)
    assert.equal(mainOf(pod)?.state?.terminated?.exitCode, 0)
    assert.equal(mainOf(pod)?.lastState?.terminated?.exitCode, 4)
  })

  test('does not disturb the other containers of its pod', async () => {
    const containers = [testContainer('main', scripts.exits(1)), testContainer('peer', scripts.obedient)]
    await node.lab.manifests.write('peers', testPod('peers', { containers }))
    const pod = await node.podIs('peers', 'restarted', (pod) => restartsOf(pod) >= 1)
    const peer = pod.status?.containerStatuses?.[1]
    assert.deepEqual([peer?.restartCount, peer?.ready, pod.status?.phase], [0, true, 'Running'])
  })

  test('maxContainerRestartPeriod bounds the wait between restarts', async () => {
    await bounded.lab.manifests.write(
      'crash',
      testPod('crash', { containers: [testContainer('main', scripts.exits(5))] }),
    )
    const waiting = await bounded.podIs('crash', 'waiting', isWaiting)
    assert.match(mainOf(waiting)?.state?.waiting?.message ?? '', /^back-off 2s /)
    const pod = await bounded.podIs('crash', 'restarted four times', (pod) => restartsOf(pod) >= 4)
    assert.equal(mainOf(pod)?.lastState?.terminated?.exitCode, 5)
    // Logs of the instances before the last two are gone with their containers, so the count is the runtime's.
    const attempts = (await bounded.containers('crash')).map(({ metadata }) => metadata?.attempt ?? -1)
    assert.equal(new Set(attempts).size, attempts.length)
    assert.ok(attempts.length <= 3, `${attempts.length} instances are kept`)
  })
})
