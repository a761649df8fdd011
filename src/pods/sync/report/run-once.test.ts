import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { reportRunOnce } from './run-once.ts'

const never = new AbortController().signal
const running: PodStatus = { phase: 'Running', conditions: [{ type: 'ContainersReady', status: 'True' }] }

function setUp(statuses: PodStatus[], options: { readonly refusals?: number; readonly restartPolicy?: string } = {}) {
  const clock = new FakeClock()
  const wakeup = new Wakeup()
  const lines: string[] = []
  const { refusals = 0, restartPolicy = 'Always' } = options
  const pod = createPod({ metadata: { name: 'web', namespace: 'default' }, spec: { restartPolicy } })
  const code = reportRunOnce(
    {
      views: () => statuses.map((status) => ({ pod, status })),
      allSeen: () => true,
      refusals: () => refusals,
      wakeup,
      clock,
      deadlineMs: 1000,
      write: (text) => lines.push(text),
    },
    never,
  )
  return { clock, wakeup, lines, code }
}

test('reportRunOnce() waits until every pod runs and exits with 0', async () => {
  const statuses: PodStatus[] = [{ phase: 'Pending' }, { phase: 'Succeeded' }]
  const { clock, wakeup, lines, code } = setUp(statuses)
  await clock.advance(500)
  statuses[0] = running
  wakeup.wake()
  assert.equal(await code, 0)
  assert.deepEqual(lines, [
    'default/web: Running\n',
    'default/web: Succeeded\n',
    '2 pods, 2 run or succeeded, 0 did not\n',
  ])
})

test('reportRunOnce() says why a pod does not run and exits with 1', async () => {
  const containerStatuses = [
    {
      name: 'a',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: 'ErrImagePull', message: 'no' } },
    },
  ]
  const { clock, lines, code } = setUp([
    { phase: 'Pending', containerStatuses },
    { phase: 'Failed', message: 'refused' },
  ])
  await clock.advance(1000)
  assert.equal(await code, 1)
  assert.deepEqual(lines, [
    'default/web: Pending: a: ErrImagePull (no)\n',
    'default/web: Failed: refused\n',
    '2 pods, 0 run or succeeded, 2 did not\n',
  ])
})

test('reportRunOnce() exits with 1 when a manifest was refused', async () => {
  const { lines, code } = setUp([running], { refusals: 1 })
  assert.equal(await code, 1)
  assert.equal(lines.at(-1), '1 pods, 1 run or succeeded, 0 did not, 1 manifests or sources refused (see the log)\n')
})

test('reportRunOnce() waits for the end of a pod that is made to end', async () => {
  const statuses = [running]
  const { clock, wakeup, code } = setUp(statuses, { restartPolicy: 'Never' })
  await clock.advance(500)
  statuses[0] = { phase: 'Failed' }
  wakeup.wake()
  assert.equal(await code, 1)
})

test('reportRunOnce() takes a pod that is made to end for good while it still runs', async () => {
  const { clock, code } = setUp([running], { restartPolicy: 'Never' })
  await clock.advance(1000)
  assert.equal(await code, 0)
})
