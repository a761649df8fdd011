import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { createPodDeps } from '../../../../test/component/create-pod-deps.ts'
import type { Lifecycle } from '../../../model/generated/core-v1.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import { createPodHistory } from '../pod-history.ts'
import { PodTermination } from '../stop/pod-termination.ts'
import { runPostStart } from './run-post-start.ts'

async function setUp(lifecycle: Lifecycle) {
  const execSync = async ({ cmd }: { cmd?: readonly string[] }) => ({ exitCode: cmd?.[0] === 'fail' ? 1 : 0 }) as never
  const made = await createPodDeps({}, { execSync })
  const container = createContainer({ lifecycle })
  const history = createPodHistory()
  const started = {
    pod: createPod({ spec: { terminationGracePeriodSeconds: 9, containers: [container] } }),
    podContainer: { kind: 'regular' as const, container },
    containerId: 'c-1',
    podIp: '10.0.0.1',
    history,
    termination: new PodTermination(made.deps, parsePodUid('u-1')),
  }
  const superseded = new AbortController()
  const signals = { shutdown: new AbortController().signal, superseded: superseded.signal }
  return { ...made, history, superseded, run: () => runPostStart(made.deps, started, signals) }
}

describe('runPostStart()', () => {
  test('does nothing without a hook', async () => {
    const { run, journal } = await setUp({})
    await run()
    assert.deepEqual(journal, [])
  })

  test('runs the hook', async () => {
    const { run, journal, events } = await setUp({ postStart: { exec: { command: ['hello'] } } })
    await run()
    assert.deepEqual([journal, events], [['execSync c-1 0'], []])
  })

  test('stops the container when the hook fails, with its grace and its other hook', async () => {
    const { run, journal, events, history, clock } = await setUp({
      postStart: { exec: { command: ['fail'] } },
      preStop: { sleep: { seconds: 2 } },
    })
    const failed = run()
    failed.catch(() => {})
    await clock.advance(2000)
    await assert.rejects(failed, { reason: 'PostStartHookError', message: 'Command failed: exit code 1' })
    assert.deepEqual(journal, ['execSync c-1 0', 'stopContainer c-1 7'])
    assert.deepEqual(events, ['Warning FailedPostStartHook PostStartHook failed', 'Normal Killing FailedPostStartHook'])
    assert.deepEqual([history.graces.size, clock.sleeping], [0, 0])
  })

  test('is given up when the pod is to end, and stops nothing', async () => {
    const { run, journal, events, superseded } = await setUp({ postStart: { sleep: { seconds: 60 } } })
    const given = run()
    superseded.abort(new Error('Pod is terminating'))
    await assert.rejects(given, /Pod is terminating/)
    assert.deepEqual([journal, events], [[], []])
  })
})
