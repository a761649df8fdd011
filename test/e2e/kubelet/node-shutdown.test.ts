import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const deckhand = fileURLToPath(new URL('../../../bin/deckhand', import.meta.url))
const PERIODS = [
  { priority: 2_000_000_000, shutdownGracePeriodSeconds: 20 },
  { priority: 0, shutdownGracePeriodSeconds: 3 },
  { priority: 1000, shutdownGracePeriodSeconds: 20 },
]
const CRITICAL = 2_000_001_000

describe('the machine is going to shut down', () => {
  let node: TestNode
  before(async () => {
    node = await TestNode.start({ config: { shutdownGracePeriodByPodPriority: PERIODS } })
  })
  after(() => node[Symbol.asyncDispose]())

  const shutDown = (...args: readonly string[]) =>
    node.lab.runInside([deckhand, 'shutdown', '--root-dir', node.agent.rootDir, ...args], { deadlineMs: 60_000 })
  /** When SIGTERM came, in milliseconds. */
  const termAt = async (pod: Pod) => (await node.logLines(pod)).find(({ text }) => text.startsWith('term'))?.at ?? NaN

  test('pods end by priority, each in its time, and the next agent runs those of manifests again', async () => {
    const names = ['stubborn', 'middle', 'critical'] as const
    const stubborn = [testContainer('main', scripts.stubborn)]
    const { manifests } = node.lab
    await Promise.all([
      manifests.write('stubborn', testPod('stubborn', { terminationGracePeriodSeconds: 600, containers: stubborn })),
      manifests.write('middle', testPod('middle', { priority: 1999 })),
      manifests.write('critical', testPod('critical', { priority: CRITICAL })),
    ])
    const pods = await Promise.all(names.map((name) => node.ready(name)))
    await node.logged('cannot watch logind for shutdowns')

    const { exitCode, stdout, stderr } = await shutDown()
    assert.deepEqual([exitCode, stderr], [0, ''])
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      'ending 1 pod of priority 0 and above, at most 3 s',
      'time is up for priority 0',
      'ending 1 pod of priority 1000 and above, at most 20 s',
      'ending 1 pod of priority 2000000000 and above, at most 20 s',
      'All pods have had their time to end; the machine may be shut down.',
    ])
    const [low = NaN, middle = NaN, critical = NaN] = await Promise.all(pods.map(termAt))
    assert.ok(middle - low >= 2500, `the first group had its 3 s: ${middle - low} ms`)
    assert.ok(critical >= middle, `${critical} after ${middle}`)
    for (const name of names) {
      const { status } = await node.podIs(name, 'failed', (pod) => pod.status?.phase === 'Failed')
      assert.equal(status?.reason, 'Terminated')
      assert.equal(status?.message, 'Pod was terminated in response to imminent node shutdown.')
      const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
      assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet'])
    }
    await node.waitFor('nothing to run', async () => (await node.running()).length === 0)
    const state = JSON.parse(await readFile(`${node.agent.rootDir}/graceful_node_shutdown_state`, 'utf8'))
    assert.ok(Date.parse(state.endTime) - Date.parse(state.startTime) >= 2500, JSON.stringify(state))

    await manifests.write('late', testPod('late'))
    const late = await node.podIs('late', 'rejected', (pod) => pod.status?.phase === 'Failed')
    assert.equal(late.status?.reason, 'NodeShutdown')

    await node.agent.kill()
    await node.startAgent()
    await Promise.all(['middle', 'critical', 'late'].map((name) => node.ready(name)))
  })

  test('it goes on when the agent is killed in the middle, and pods of manifests run again when the machine stays', async () => {
    await node.ready('stubborn')
    const asked = shutDown()
    const stateFile = `${node.agent.rootDir}/graceful_node_shutdown_state`
    await node.waitFor('the shutdown', async () =>
      (await readFile(stateFile, 'utf8')).includes('"0001-01-01T00:00:00Z"'),
    )
    await node.agent.kill('SIGKILL')
    const { exitCode, stderr } = await asked
    assert.equal(exitCode, 1)
    assert.match(stderr, /the agent has left; it goes on when it is back/)
    await node.startAgent()
    await node.waitFor('nothing to run', async () => (await node.running()).length === 0)
    const cancelled = await shutDown('--cancel')
    assert.equal(cancelled.stdout, 'The shutdown is cancelled; the node takes pods again.\n')
    await Promise.all(['stubborn', 'middle', 'critical', 'late'].map((name) => node.ready(name)))
  })

  test('a shutdown that was not requested cannot be cancelled, and an agent that is not there cannot be asked', async () => {
    const { exitCode, stdout } = await shutDown('--cancel')
    assert.deepEqual([exitCode, stdout], [0, 'There was no shutdown to cancel.\n'])
    const absent = await node.lab.runInside([deckhand, 'shutdown', '--root-dir', `${node.lab.folder}/absent`])
    assert.equal(absent.exitCode, 3)
    assert.match(absent.stderr, /Cannot reach the agent at ".*\/absent\/deckhand\/shutdown.sock"/)
  })
})
