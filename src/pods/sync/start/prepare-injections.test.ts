import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { createPodDeps } from '../../../../test/component/create-pod-deps.ts'
import { noInjections } from '../../../../test/fakes/no-injections.ts'
import { InjectionsError } from '../../../model/pod/injections-error.ts'
import { prepareInjections } from './prepare-injections.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import type { PodInjections } from './pod-injections.ts'
import { createPodHistory } from '../pod-history.ts'
import { releaseInjections } from '../stop/release-injections.ts'

const never = new AbortController().signal
const pod = createPod()
const STARTS = { createSandbox: true, start: [] } as unknown as PodActions
const RESTS = { createSandbox: false, start: [] } as unknown as PodActions

async function setUp(injections: Partial<PodInjections>) {
  const { deps, lines } = await createPodDeps({ injections: { ...noInjections, ...injections } })
  const history = createPodHistory()
  const run = (actions: PodActions, superseded = never) =>
    prepareInjections({ deps, history }, { pod, actions }, { superseded, shutdown: never })
  return { deps, history, lines, run }
}

describe('prepareInjections()', () => {
  test('whatever starts waits for what its pod was promised; what runs does not', async () => {
    let asked = 0
    const { run, history } = await setUp({ ensure: async () => void (asked += 1) })
    assert.deepEqual([await run(RESTS), asked], ['there', 0])
    assert.deepEqual([await run(STARTS), asked, history.wait], ['there', 1, undefined])
  })

  test('what fails is tried again and logged', async () => {
    const ensure = async () => {
      throw new InjectionsError('not yet')
    }
    const { run, history, lines } = await setUp({ ensure })
    assert.equal(await run(STARTS), 'missing')
    assert.equal(history.problem, 'Waits for its devices: not yet')
    assert.deepEqual(lines, ['warn cannot prepare the devices of a pod, will try again'])
  })

  test('what can never come is the end of the pod', async () => {
    const end = { reason: 'UnexpectedAdmissionError', message: 'no' }
    const ensure = async () => {
      throw new InjectionsError('no', { end })
    }
    const { run, lines } = await setUp({ ensure })
    assert.deepEqual(await run(STARTS), end)
    assert.deepEqual(lines, ['warn pod cannot have what it was promised, it ends'])
  })

  test('news end the wait, and the end of the pod does', async () => {
    const ensure: PodInjections['ensure'] = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    const { run, history } = await setUp({ ensure })
    const first = run(STARTS)
    history.wait?.abort(new Error('news'))
    assert.equal(await first, 'changed')
    const end = new AbortController()
    const second = run(STARTS, end.signal)
    end.abort(new Error('over'))
    await assert.rejects(second, /over/)
  })

  test('a mistake of our own is no problem of the pod', async () => {
    const { run } = await setUp({ ensure: () => Promise.reject(new TypeError('broken')) })
    await assert.rejects(run(STARTS), TypeError)
  })
})

test('releaseInjections() says when to try again, and what for only once', async () => {
  const answers = [new InjectionsError('busy'), new InjectionsError('busy'), undefined]
  const release = async () => {
    const error = answers.shift()
    if (error !== undefined) throw error
  }
  const { deps, lines, history } = await setUp({ release })
  const ended = { ...pod.metadata, history }
  assert.equal(await releaseInjections(deps, ended, never), 10_000)
  assert.equal(history.problem, 'Waits until its devices are given back: busy')
  assert.equal(await releaseInjections(deps, ended, never), 10_000)
  assert.equal(await releaseInjections(deps, ended, never), undefined)
  assert.equal(history.problem, undefined)
  assert.deepEqual(lines, ['warn cannot give back the devices of a pod, will try again'])
})
