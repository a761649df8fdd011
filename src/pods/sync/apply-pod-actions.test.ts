import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
  createPodDeps,
  failing,
} from '../../../test/component/create-pod-deps.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { StartError } from '../../model/pod/start-error.ts'
import { applyPodActions } from './apply-pod-actions.ts'
import { crashBackOffKey } from './decide/compute-crash-back-off.ts'
import { NO_ACTIONS } from './decide/pod-actions.ts'
import type { PodActions } from './decide/pod-actions.ts'
import { createPodHistory } from './pod-history.ts'
import type { PodDeps } from './pod-worker.ts'
import { PodTermination } from './stop/pod-termination.ts'

const never = new AbortController().signal
const pod = createPod({
  spec: {
    dnsPolicy: 'Default',
    initContainers: [createContainer({ name: 'proxy', restartPolicy: 'Always' }), createContainer({ name: 'prepare' })],
    containers: [createContainer({ name: 'a' }), createContainer({ name: 'b' })],
  },
})
const nothing: PodActions = { ...NO_ACTIONS, sandboxId: 's-1' }
const starts = (...names: string[]): PodActions['start'] =>
  names.map((name) => ({ kind: name.length > 1 ? 'init' : 'regular', name, previousEndedAt: undefined }))
const observed = createObservedPod({
  sandboxes: [createObservedSandbox()],
  containers: [
    createObservedContainer({ name: 'a' }),
    createObservedContainer({ id: 'c-0', name: 'prepare', state: 'exited' }),
  ],
})
const backOffLimits = { firstMs: 10_000, longestMs: 300_000 }

async function apply(actions: Partial<PodActions>, answers: Partial<PodDeps['calls']> = {}, superseded = never) {
  const made = await createPodDeps({}, answers)
  const history = createPodHistory()
  const reportNow = async () => void made.journal.push('report')
  const termination = new PodTermination(made.deps, pod.metadata.uid)
  const input = { pod, observed, actions: { ...nothing, ...actions }, history, termination, backOffLimits, reportNow }
  const run = () => applyPodActions(made.deps, input, { shutdown: never, superseded })
  return { ...made, history, input, run }
}

describe('applyPodActions()', () => {
  test('does nothing when nothing is to be done', async () => {
    const { run, journal, events } = await apply({})
    assert.equal(await run(), true)
    assert.deepEqual([journal, events], [[], []])
  })

  test('stops the pod, removes its init containers, makes a sandbox and starts in order', async () => {
    const { run, journal, events, history, clock } = await apply({
      killPod: true,
      createSandbox: true,
      attempt: 1,
      start: starts('proxy', 'a'),
    })
    assert.equal(await run(), true)
    assert.deepEqual(journal, [
      'stopContainer c-1 2',
      'stopPodSandbox s-1',
      'removeContainer c-0',
      'runPodSandbox',
      'podSandboxStatus s-1',
      'createContainer s-1',
      'startContainer c-new',
      'createContainer s-1',
      'startContainer c-new',
    ])
    assert.equal(events[0], 'Normal SandboxChanged Pod sandbox changed, it will be killed and re-created.')
    assert.equal(history.lastSandboxAt, clock.monotonic())
  })

  test('keeps the init containers of a pod that is only ended', async () => {
    const { run, journal, events } = await apply({ killPod: true })
    await run()
    assert.deepEqual(journal, ['stopContainer c-1 2', 'stopPodSandbox s-1'])
    assert.deepEqual(events, ['Normal Killing Stopping container a'])
  })

  test('kills single containers before it starts others, with the words of the plan', async () => {
    const message = 'Container a definition changed, will be restarted'
    const { run, journal, events } = await apply({
      kill: [{ id: 'c-1', name: 'a', cause: 'changed', message }],
      start: starts('a'),
    })
    assert.equal(await run(), true)
    assert.deepEqual(journal, ['stopContainer c-1 2', 'createContainer s-1', 'startContainer c-new'])
    assert.equal(events[0], `Normal Killing ${message}`)
  })

  const failures: readonly (readonly [string, readonly string[], number])[] = [
    ['an init container ends the pass: the others need its work', ['prepare', 'a', 'b'], 1],
    ['a sidecar does not keep the others back', ['proxy', 'a', 'b'], 3],
    ['a regular container does not keep the others back', ['a', 'b'], 2],
  ]
  for (const [name, names, tries] of failures) {
    test(`a failed start of ${name}`, async () => {
      const { run, journal, history } = await apply(
        { start: starts(...names) },
        { createContainer: failing('Unknown') },
      )
      assert.equal(await run(), false)
      assert.equal(journal.length, tries)
      assert.deepEqual(
        [...history.waiting],
        names.slice(0, tries).map((each) => [each, { reason: 'CreateContainerError', message: 'planned' }]),
      )
    })
  }

  const newUsers = [
    ['a container that cannot be made', { createContainer: failing('Unknown') }, 1],
    ['a sandbox that cannot be made', { runPodSandbox: failing('Unknown') }, 1],
    ['no failure', {}, 0],
  ] as const
  for (const [name, answers, count] of newUsers) {
    test(`counts failed first starts of pods with users of their own: ${name}`, async () => {
      const { deps, input } = await apply({ createSandbox: true, start: starts('a', 'b') }, answers)
      let failed = 0
      const handlers = new Map([['', { userNamespaces: true, recursiveReadOnlyMounts: false }]])
      const features = () => ({ ...deps.features(), handlers })
      const counting = { ...deps, features, metrics: { ...deps.metrics, ownUsersStartFailed: () => void failed++ } }
      const start = (own: Pod) =>
        applyPodActions(counting, { ...input, pod: own }, { shutdown: never, superseded: never })
      await start(pod).catch(() => {})
      assert.equal(failed, 0)
      await start({ ...pod, spec: { ...pod.spec, hostUsers: false } }).catch(() => {})
      assert.equal(failed, count)
    })
  }

  test('a start that succeeds forgets why the container waited', async () => {
    const { run, history } = await apply({ start: starts('a') })
    history.waiting.set('a', { reason: 'ErrImagePull', message: '' })
    await run()
    assert.deepEqual([...history.waiting], [])
  })

  test('a start after an exit makes the next wait longer, a first start does not', async () => {
    const { run, history, clock } = await apply({
      start: [
        { kind: 'regular', name: 'a', previousEndedAt: 1 },
        { kind: 'regular', name: 'b', previousEndedAt: undefined },
      ],
    })
    await run()
    assert.deepEqual(
      [...history.backOff],
      [[crashBackOffKey(createContainer({ name: 'a' })), { delayMs: 10_000, lastStartAt: clock.now() }]],
    )
  })

  test('reports a back-off once for each of its lengths', async () => {
    const backingOff = [{ kind: 'regular' as const, name: 'a', untilMs: 1, delayMs: 80_000 }]
    const { run, history, events } = await apply({ backingOff })
    await run()
    await run()
    assert.deepEqual(events, ['Warning BackOff Back-off restarting failed container a in pod web_shop(u-1)'])
    assert.deepEqual(history.waiting.get('a'), {
      reason: 'CrashLoopBackOff',
      message: 'back-off 1m20s restarting failed container=a pod=web_shop(u-1)',
    })
  })

  test('asks for all images before the sandbox is there, and shows what is wrong with one', async () => {
    const { deps, journal, history } = await apply({})
    const asked: string[] = []
    const images: PodDeps['images'] = {
      ...deps.images,
      async ensure({ podContainer }) {
        asked.push(podContainer.container.name)
        journal.push(`image ${podContainer.container.name}`)
        if (podContainer.container.name === 'a') throw new StartError('ErrImagePull', 'no')
        return { ref: 'sha256:1', uid: undefined, username: '' }
      },
    }
    const input = {
      pod,
      observed,
      actions: { ...nothing, createSandbox: true, start: starts('a', 'b') },
      history,
      termination: new PodTermination(deps, pod.metadata.uid),
      backOffLimits,
      reportNow: async () => {},
    }
    assert.equal(await applyPodActions({ ...deps, images }, input, { shutdown: never, superseded: never }), false)
    assert.deepEqual(journal.slice(0, 3), ['image a', 'image b', 'runPodSandbox'])
    assert.deepEqual([...history.waiting], [['a', { reason: 'ErrImagePull', message: 'no' }]])
  })

  test('starts no further container once the pod is to end', async () => {
    const ending = new AbortController()
    const reason = new Error('Pod is terminating')
    const startContainer = async () => (ending.abort(reason), {} as never)
    const { run, journal } = await apply({ start: starts('a', 'b') }, { startContainer }, ending.signal)
    await assert.rejects(run, reason)
    assert.deepEqual(journal, ['createContainer s-1', 'startContainer c-new'], 'what was begun is finished')
  })
})
