import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { uncountedPods } from '../../../../test/fakes/uncounted-pods.ts'
import { PassCounter } from './pass-counter.ts'
import type { PodState } from '../pod-state.ts'

function createWorld() {
  const clock = new FakeClock()
  const counted: string[] = []
  const metrics = {
    ...uncountedPods,
    podWorkerPass: (operation: string, seconds: number) => void counted.push(`${operation} ${seconds}`),
    podWorkerStart: (seconds: number) => void counted.push(`start ${seconds}`),
  }
  const passes = new PassCounter()
  const annotations = { 'kubernetes.io/config.seen': new Date(clock.now() - 3000).toISOString() }
  const pod = createPod({ metadata: { annotations } })
  const pass = async (state: PodState['kind'], work: () => Promise<void> = async () => {}) =>
    await passes.count({ clock, metrics }, { pod, state }, async () => {
      await clock.advance(1500)
      await work()
    })
  return { counted, passes, pass }
}

describe('PassCounter', () => {
  test('times each pass by what it is for, and the way to the first', async () => {
    const { counted, passes, pass } = createWorld()
    await pass('waiting')
    await pass('syncing')
    await pass('syncing')
    passes.updated()
    await pass('syncing')
    await pass('syncing')
    await pass('terminating')
    await pass('terminated')
    assert.deepEqual(counted, [
      'start 4.5',
      'create 1.5',
      'sync 1.5',
      'update 1.5',
      'sync 1.5',
      'kill 1.5',
      'terminated 1.5',
    ])
  })

  test('times a pass that fails, too', async () => {
    const { counted, pass } = createWorld()
    const failing = pass('terminating', async () => {
      throw new Error('away')
    })
    await assert.rejects(failing, { message: 'away' })
    assert.deepEqual(counted, ['kill 1.5'])
  })
})
