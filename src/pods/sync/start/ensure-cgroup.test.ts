import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
  createPodDeps,
} from '../../../../test/component/create-pod-deps.ts'
import { noCgroups } from '../../../../test/fakes/no-cgroups.ts'
import { CgroupError } from '../../../model/resources/cgroup-error.ts'
import { ensureCgroup } from './ensure-cgroup.ts'
import { NO_ACTIONS } from '../decide/pod-actions.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import { createPodHistory } from '../pod-history.ts'

const never = new AbortController().signal
const signals = { shutdown: never, superseded: never }
const pod = createPod({ spec: { terminationGracePeriodSeconds: 30 } })
const nothing: PodActions = { ...NO_ACTIONS, sandboxId: 's-1' }
const starting: PodActions = { ...nothing, createSandbox: true }
const absent = createObservedPod()
const running = createObservedPod({ sandboxes: [createObservedSandbox()], containers: [createObservedContainer()] })

async function setUp(ensure: () => Promise<boolean>) {
  let asked = 0
  const cgroups = { ...noCgroups, ensure: () => ((asked += 1), ensure()) }
  const { deps, journal, events } = await createPodDeps({ cgroups })
  const history = createPodHistory()
  const run = (observed: typeof absent, actions: PodActions) =>
    ensureCgroup({ deps, history }, { pod, observed, actions }, signals)
  return { run, history, journal, events, asked: () => asked }
}

describe('ensureCgroup()', () => {
  test('makes the cgroup of what starts', async () => {
    const { run, journal, asked } = await setUp(async () => true)
    assert.equal(await run(absent, starting), 'there')
    assert.equal(asked(), 1)
    assert.deepEqual(journal, [])
  })

  const idle: readonly (readonly [name: string, observed: typeof absent, actions: PodActions])[] = [
    ['nothing runs and nothing starts', absent, nothing],
    ['everything is about to end', running, { ...nothing, killPod: true }],
  ]
  for (const [name, observed, actions] of idle) {
    test(`leaves it alone when ${name}`, async () => {
      const { run, asked } = await setUp(async () => true)
      assert.equal(await run(observed, actions), 'there')
      assert.equal(asked(), 0)
    })
  }

  test('leaves alone what an earlier agent started elsewhere', async () => {
    const { run, journal } = await setUp(async () => true)
    assert.equal(await run(running, nothing), 'there')
    assert.deepEqual(journal, [])
  })

  test('stops what runs when its cgroup was lost, so that it starts again within one', async () => {
    const answers = [false, true]
    const { run, history, journal } = await setUp(async () => answers.shift() ?? false)
    assert.equal(await run(running, nothing), 'there')
    assert.equal(await run(running, nothing), 'changed')
    assert.deepEqual(journal, ['stopContainer c-1 30', 'stopPodSandbox s-1'])
    assert.equal(history.unsure, true)
  })

  test('reports when it cannot be made, and waits', async () => {
    const { run, history, events } = await setUp(async () => {
      throw new CgroupError('Cannot make the cgroup of the pod: ENOSPC')
    })
    assert.equal(await run(absent, starting), 'missing')
    assert.deepEqual(events, [
      'Warning FailedCreatePodContainer unable to ensure pod container exists: Cannot make the cgroup of the pod: ENOSPC',
    ])
    assert.equal(history.problem, 'Waits for its cgroup: Cannot make the cgroup of the pod: ENOSPC')
  })

  test('hides no other fault', async () => {
    const { run } = await setUp(() => Promise.reject(new TypeError('planned')))
    await assert.rejects(run(absent, starting), TypeError)
  })
})
