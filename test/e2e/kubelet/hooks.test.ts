import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Lifecycle } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

/** A hook that says something in the log of the container: process 1 is the container's own. */
const say = (words: string, then = 'true') => ({
  exec: { command: ['sh', '-c', `echo ${words} $EPOCHREALTIME > /proc/1/fd/1; ${then}`] },
})
const never = new AbortController().signal

describe('lifecycle hooks', { concurrency: true }, () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start()))
  after(() => node[Symbol.asyncDispose]())

  const write = async (name: string, lifecycle: Lifecycle, spec: Parameters<typeof testPod>[1] = {}) => {
    const containers = [testContainer('main', scripts.obedient, { lifecycle })]
    await node.lab.manifests.write(name, testPod(name, { containers, ...spec }))
  }
  /** First words and times of the lines in the log, once there are so many. */
  const words = async (pod: Pod, count: number) =>
    await node.waitFor(`${count} lines of ${pod.metadata.name}`, async () => {
      const lines = (await node.logLines(pod)).map(({ at, text }) => ({ at, word: text.split(' ')[0] }))
      return lines.length >= count && lines
    })

  test('preStop runs before the signal', async () => {
    await write('stops', { preStop: say('bye', 'sleep 1') })
    const pod = await node.ready('stops')
    await node.lab.manifests.remove('stops')
    const lines = await words(pod, 3)
    assert.deepEqual(
      lines.map(({ word }) => word),
      ['started', 'bye', 'term'],
    )
    assert.ok((lines[2]?.at ?? 0) - (lines[1]?.at ?? 0) >= 1000)
  })

  test('a preStop that sleeps holds up the signal', async () => {
    await write('sleeps', { preStop: { sleep: { seconds: 2 } } })
    const pod = await node.ready('sleeps')
    await node.lab.manifests.remove('sleeps')
    const removedAt = Date.now()
    const lines = await words(pod, 2)
    assert.equal(lines[1]?.word, 'term')
    assert.ok((lines[1]?.at ?? 0) - removedAt >= 1800, `${(lines[1]?.at ?? 0) - removedAt} ms`)
  })

  test('a preStop that takes too long is cut by the grace', async () => {
    await write('slow', { preStop: say('bye', 'sleep 1000') }, { terminationGracePeriodSeconds: 2 })
    const pod = await node.ready('slow')
    await node.lab.manifests.remove('slow')
    const lines = await words(pod, 3)
    assert.deepEqual(
      lines.map(({ word }) => word),
      ['started', 'bye', 'term'],
    )
    const waited = (lines[2]?.at ?? 0) - (lines[1]?.at ?? 0)
    assert.ok(waited >= 1500 && waited < 5000, `${waited} ms`)
    await node.logged('preStop hook took longer than the grace period', 'default/slow-lab')
    await node.waitFor('all of it to stop', async () => (await node.running('slow')).length === 0)
  })

  test('postStart runs in the container, and the pod is ready after it', async () => {
    await write('starts', { postStart: say('hello', 'sleep 0.5; echo done > /proc/1/fd/1') })
    const pod = await node.ready('starts')
    const lines = await words(pod, 3)
    assert.deepEqual(new Set(lines.map(({ word }) => word)), new Set(['done', 'hello', 'started']))
  })

  test('a postStart that fails stops the container, and other pods start meanwhile', async () => {
    await write('fails', { postStart: say('hello', 'exit 3'), preStop: say('bye') })
    await write('beside', {})
    await node.ready('beside')
    const pod = await node.podIs('fails', 'waiting after a failed hook', ({ status }) => {
      const { reason } = status?.containerStatuses?.[0]?.state?.waiting ?? {}
      return reason === 'PostStartHookError' || reason === 'CrashLoopBackOff'
    })
    const lines = await words(pod, 3)
    assert.deepEqual(lines.map(({ word }) => word).slice(-2), ['bye', 'term'])
    await node.logged('reason="FailedPostStartHook"', 'default/fails-lab')
  })

  test('an HTTP hook asks the container, any answer is good', async () => {
    const ask = 'until wget -q -O /dev/null http://127.0.0.1:8080/up 2> /dev/null; do sleep 0.05; done'
    const script = `mkdir /www; echo yes > /www/up; httpd -f -p 8080 -h /www & ${ask}; ${scripts.obedient}`
    const lifecycle = { preStop: { httpGet: { port: 'web', path: '/none' } } }
    const containers = [testContainer('main', script, { lifecycle, ports: [{ name: 'web', containerPort: 8080 }] })]
    await node.lab.manifests.write('asks', testPod('asks', { containers }))
    const pod = await node.ready('asks')
    await words(pod, 1)
    await node.lab.manifests.remove('asks')
    const lines = await words(pod, 2)
    assert.equal(lines.at(-1)?.word, 'term')
    const failed = (await node.agent.log()).filter((line) => line.includes('asks-lab') && line.includes('hook failed'))
    assert.deepEqual(failed, [])
  })

  test('the log is the termination message of a container that fails without one', async () => {
    const script = 'for n in $(seq 100); do echo line $n; done; exit 9'
    const containers = [testContainer('main', script, { terminationMessagePolicy: 'FallbackToLogsOnError' })]
    await node.lab.manifests.write('wordless', testPod('wordless', { containers, restartPolicy: 'Never' }))
    const pod = await node.podIs('wordless', 'Failed', ({ status }) => status?.phase === 'Failed')
    const { exitCode, message = '' } = pod.status?.containerStatuses?.[0]?.state?.terminated ?? {}
    assert.equal(exitCode, 9)
    const lines = Array.from({ length: 80 }, (_, index) => `line ${index + 21}\n`).join('')
    assert.equal(message, lines)
  })
})

test('a finished pod stays finished although agent and runtime lose everything of it', async () => {
  await using node = await TestNode.start()
  const containers = [testContainer('main', scripts.exits(4))]
  await node.lab.manifests.write('job', testPod('job', { containers, restartPolicy: 'Never' }))
  await node.podIs('job', 'Failed', ({ status }) => status?.phase === 'Failed')
  await node.logged('pod ended', 'default/job-lab')
  await node.agent.kill('SIGKILL')
  for (const { id } of await node.containers('job')) await node.runtime.removeContainer({ containerId: id }, never)
  for (const { id } of (await node.runtime.listPodSandbox({}, never)).items) {
    await node.runtime.stopPodSandbox({ podSandboxId: id }, never)
    await node.runtime.removePodSandbox({ podSandboxId: id }, never)
  }
  await node.startAgent()
  await node.lab.manifests.write('after', testPod('after'))
  await node.ready('after')
  const { status } = (await node.agent.pod('job')) ?? {}
  assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.state?.terminated?.exitCode], ['Failed', 4])
  // The logs of Docker go with their containers.
  const starts = node.lab.runtime.name === 'docker' ? 0 : 1
  assert.deepEqual([await node.containers('job'), await node.starts('job')], [[], starts])
})
