import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { createPodRuntime } from '../../../../test/component/create-pod-runtime.ts'
import { noExtras } from '../../../../test/fakes/no-extras.ts'
import { ExtrasError } from '../../../model/pod/extras-error.ts'
import { bringExtras } from './bring-extras.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import type { PodExtras } from './pod-extras.ts'
import { createPodMemory } from '../pod-memory.ts'
import { releaseExtras } from '../stop/release-extras.ts'

const never = new AbortController().signal
const pod = createPod()
const STARTS = { createSandbox: true, start: [] } as unknown as PodActions
const RESTS = { createSandbox: false, start: [] } as unknown as PodActions

async function setUp(extras: Partial<PodExtras>) {
  const { runtime, lines } = await createPodRuntime({ extras: { ...noExtras, ...extras } })
  const memory = createPodMemory()
  const bring = (actions: PodActions, superseded = never) =>
    bringExtras({ runtime, memory }, { pod, actions }, { superseded, shutdown: never })
  return { runtime, memory, lines, bring }
}

describe('bringExtras()', () => {
  test('whatever starts waits for what its pod was promised; what runs does not', async () => {
    let asked = 0
    const { bring, memory } = await setUp({ ensure: async () => void (asked += 1) })
    assert.deepEqual([await bring(RESTS), asked], ['there', 0])
    assert.deepEqual([await bring(STARTS), asked, memory.wait], ['there', 1, undefined])
  })

  test('what fails is tried again and told', async () => {
    const ensure = async () => {
      throw new ExtrasError('not yet')
    }
    const { bring, memory, lines } = await setUp({ ensure })
    assert.equal(await bring(STARTS), 'missing')
    assert.equal(memory.problem, 'Waits for its devices: not yet')
    assert.deepEqual(lines, ['warn cannot bring the devices of a pod, will try again'])
  })

  test('what can never come is the end of the pod', async () => {
    const end = { reason: 'UnexpectedAdmissionError', message: 'no' }
    const ensure = async () => {
      throw new ExtrasError('no', { end })
    }
    const { bring, lines } = await setUp({ ensure })
    assert.deepEqual(await bring(STARTS), end)
    assert.deepEqual(lines, ['warn pod cannot have what it was promised, it ends'])
  })

  test('news end the wait, and the end of the pod does', async () => {
    const ensure: PodExtras['ensure'] = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    const { bring, memory } = await setUp({ ensure })
    const first = bring(STARTS)
    memory.wait?.abort(new Error('news'))
    assert.equal(await first, 'changed')
    const end = new AbortController()
    const second = bring(STARTS, end.signal)
    end.abort(new Error('over'))
    await assert.rejects(second, /over/)
  })

  test('a mistake of our own is no problem of the pod', async () => {
    const { bring } = await setUp({ ensure: () => Promise.reject(new TypeError('broken')) })
    await assert.rejects(bring(STARTS), TypeError)
  })
})

test('releaseExtras() says when to try again, and what for only once', async () => {
  const answers = [new ExtrasError('busy'), new ExtrasError('busy'), undefined]
  const release = async () => {
    const error = answers.shift()
    if (error !== undefined) throw error
  }
  const { runtime, lines, memory } = await setUp({ release })
  const ended = { ...pod.metadata, memory }
  assert.equal(await releaseExtras(runtime, ended, never), 10_000)
  assert.equal(memory.problem, 'Waits until its devices are given back: busy')
  assert.equal(await releaseExtras(runtime, ended, never), 10_000)
  assert.equal(await releaseExtras(runtime, ended, never), undefined)
  assert.equal(memory.problem, undefined)
  assert.deepEqual(lines, ['warn cannot give back the devices of a pod, will try again'])
})
