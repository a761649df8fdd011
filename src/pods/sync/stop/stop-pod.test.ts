import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import {
  createObservedContainer,
  createObservedPod,
  createObservedSandbox,
  createPodDeps,
  failing,
} from '../../../../test/component/create-pod-deps.ts'
import { Grace } from './grace.ts'
import type { PodDeps } from '../pod-worker.ts'
import { stopPod } from './stop-pod.ts'

const pod = createPod({
  spec: {
    initContainers: [
      createContainer({ name: 'setup' }),
      createContainer({ name: 'first', restartPolicy: 'Always' }),
      createContainer({ name: 'second', restartPolicy: 'Always' }),
    ],
    containers: [createContainer({ name: 'a' }), createContainer({ name: 'b' })],
  },
})
const parts = (...names: string[]) => names.map((name) => createObservedContainer({ id: name, name }))
const sandboxes = [createObservedSandbox(), createObservedSandbox({ id: 's-0', ready: false })]

const graceOf = ({ clock }: PodDeps, seconds: number) => new Grace({ clock, seconds, among: new Set() })

describe('stopPod()', () => {
  test('stops regular containers, then sidecars in reverse, then all sandboxes', async () => {
    const { deps, journal, events, clock } = await createPodDeps()
    const observed = createObservedPod({ sandboxes, containers: parts('first', 'a', 'second', 'b') })
    const stop = new AbortController()
    const stoppedSandboxes = new Set<string>()
    await stopPod(deps, { pod, observed, grace: graceOf(deps, 30), stoppedSandboxes }, stop.signal)
    assert.deepEqual(journal, [
      'stopContainer a 30',
      'stopContainer b 30',
      'stopContainer second 30',
      'stopContainer first 30',
      'stopPodSandbox s-1',
      'stopPodSandbox s-0',
    ])
    assert.deepEqual([...stoppedSandboxes], ['s-1', 's-0'])
    assert.equal(events[0], 'Normal Killing Stopping container a')
    assert.equal(clock.sleeping, 0, 'a timer lives on')
    assert.deepEqual(getEventListeners(stop.signal, 'abort'), [])
  })

  test('stops all that is left of an unknown pod together', async () => {
    const { deps, journal, events } = await createPodDeps()
    const observed = createObservedPod({ sandboxes, containers: parts('first', 'a') })
    await stopPod(
      deps,
      { pod: undefined, observed, grace: graceOf(deps, 1), stoppedSandboxes: new Set() },
      new AbortController().signal,
    )
    assert.deepEqual(journal.slice(0, 2), ['stopContainer first 2', 'stopContainer a 2'])
    assert.deepEqual(events, [])
  })

  test('leaves alone what does not run, and stops what is in an unknown state', async () => {
    const { deps, journal } = await createPodDeps()
    const containers = (['created', 'running', 'exited', 'unknown'] as const).map((state) =>
      createObservedContainer({ id: state, name: 'a', state }),
    )
    await stopPod(
      deps,
      { pod, observed: createObservedPod({ containers }), grace: graceOf(deps, 5), stoppedSandboxes: new Set() },
      new AbortController().signal,
    )
    assert.deepEqual(journal, ['stopContainer running 5', 'stopContainer unknown 5'])
  })

  test('gives a sidecar what is left of the grace, and never less than two seconds', async () => {
    let left = 0
    const ends: (() => void)[] = []
    const stopContainer = () =>
      new Promise<never>((resolve) => {
        left += 1
        ends.push(() => resolve({} as never))
      })
    const { deps, journal, clock } = await createPodDeps({}, { stopContainer })
    const observed = createObservedPod({ containers: parts('first', 'second', 'a') })
    const stopping = stopPod(
      deps,
      { pod, observed, grace: graceOf(deps, 10), stoppedSandboxes: new Set() },
      new AbortController().signal,
    )
    await clock.advance(7500)
    assert.deepEqual(journal, ['stopContainer a 10'])
    ends[0]?.()
    await clock.advance(0)
    assert.deepEqual(journal.slice(1), ['stopContainer second 3'])
    await clock.advance(2500)
    assert.deepEqual(journal.slice(2), ['stopContainer first 2'], 'after the grace nothing waits any more')
    assert.equal(left, 3)
    for (const end of ends) end()
    await stopping
    assert.equal(clock.sleeping, 0)
  })

  test('waits for all others when one fails, and keeps the sandbox, which would end them without any grace', async () => {
    let end = () => {}
    const slow = new Promise<never>((resolve) => {
      end = () => resolve({} as never)
    })
    const stopContainer = async ({ containerId }: { containerId?: string | undefined }) =>
      containerId === 'a' ? await failing('Unknown', 'stuck')() : await slow
    const { deps, journal, clock } = await createPodDeps({}, { stopContainer })
    const observed = createObservedPod({ sandboxes, containers: parts('a', 'b') })
    let ended = false
    const stopping = stopPod(
      deps,
      { pod, observed, grace: graceOf(deps, 10), stoppedSandboxes: new Set() },
      new AbortController().signal,
    ).finally(() => (ended = true))
    stopping.catch(() => {})
    await clock.advance(0)
    assert.equal(ended, false)
    end()
    await assert.rejects(stopping, /stuck/)
    assert.deepEqual(journal, ['stopContainer a 10', 'stopContainer b 10'])
  })
})
