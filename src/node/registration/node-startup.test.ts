import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { NodeStartup } from './node-startup.ts'

function createWorld(bootedAgoMs: number | undefined) {
  const clock = new FakeClock()
  const steps: string[] = []
  const startedAt = clock.now()
  const startup = new NodeStartup({
    bootedAt: bootedAgoMs === undefined ? undefined : startedAt - bootedAgoMs,
    startedAt,
    onStep: (step, seconds) => void steps.push(`${step} ${seconds}`),
    clock,
  })
  return { clock, steps, startup }
}

describe('NodeStartup', () => {
  test('times the way of a new node, step by step, once', async () => {
    const { clock, steps, startup } = createWorld(60_000)
    await clock.advance(1000)
    startup.tries()
    await clock.advance(2000)
    startup.tries()
    startup.made()
    await clock.advance(4000)
    startup.ready()
    startup.made()
    startup.ready()
    assert.deepEqual(steps, [
      'pre_kubelet 60',
      'pre_registration 1',
      'registration 2',
      'post_registration 4',
      'whole 67',
    ])
  })

  test('reports nothing for a node that was there before, and less where the start of the machine is not known', () => {
    const old = createWorld(60_000)
    old.startup.tries()
    old.startup.ready()
    assert.deepEqual(old.steps, [])
    const { steps, startup } = createWorld(undefined)
    startup.tries()
    startup.made()
    startup.ready()
    assert.deepEqual(steps, ['pre_registration 0', 'registration 0', 'post_registration 0'])
  })
})
