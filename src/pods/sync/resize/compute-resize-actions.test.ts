import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import type { PodAllocation } from '../../../model/resources/pod-allocation.ts'
import type { PodActions } from '../decide/pod-actions.ts'
import { computeResizeActions, computeResizeRestarts, isResizing } from './compute-resize-actions.ts'

const [small, large] = [{ limits: { cpu: '1' } }, { limits: { cpu: '2' } }]
const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
const pod = createPod({
  spec: {
    initContainers: [createContainer({ name: 'proxy', restartPolicy: 'Always', resources: large })],
    containers: [
      createContainer({ name: 'a', resources: large }),
      createContainer({ name: 'b', resources: large, resizePolicy: policy }),
    ],
  },
})
const all: PodAllocation = {
  containers: new Map([
    ['proxy', small],
    ['a', small],
    ['b', small],
  ]),
  pod: undefined,
}
const nothing: Pick<PodActions, 'killPod' | 'kill' | 'start'> = { killPod: false, kill: [], start: [] }
const createInput = (containers: readonly ObservedContainer[], actuated: PodAllocation | undefined = all) => ({
  pod,
  observed: createObservedPod({ containers }),
  actuated,
})
const running = ['proxy', 'a', 'b'].map((name) => createInstance({ name }))
const update = (name: string) => ({ id: `${name}-0`, name, cpu: 'grows', memory: undefined })

describe('a pod of which all that runs was granted more', () => {
  test('changes what runs, and restarts what has to restart', () => {
    const input = createInput(running)
    assert.deepEqual(computeResizeRestarts(input), new Set(['b']))
    assert.deepEqual(computeResizeActions(input, nothing), { updates: [update('proxy'), update('a')] })
    assert.equal(isResizing(input), true)
  })

  test('changes nothing that is about to be stopped', () => {
    const kill = [{ id: 'a-0', name: 'a', cause: 'liveness', message: '' }] as const
    const start = [{ kind: 'regular', name: 'a', previousEndedAt: undefined }] as const
    assert.deepEqual(computeResizeActions(createInput(running), { ...nothing, kill, start }), {
      updates: [update('proxy')],
    })
    assert.deepEqual(computeResizeActions(createInput(running), { ...nothing, killPod: true, start }), { updates: [] })
  })

  test('has nothing to change while nothing of it runs', () => {
    const input = createInput([createInstance({ name: 'a', state: 'exited' })])
    assert.equal(computeResizeActions(input, nothing), undefined)
    assert.equal(isResizing(input), false)
    assert.deepEqual(computeResizeRestarts(input), new Set())
  })

  test('changes its own cgroup for what starts larger', () => {
    const start = [{ kind: 'regular', name: 'a', previousEndedAt: 1 }] as const
    assert.deepEqual(computeResizeActions(createInput([]), { ...nothing, start }), { updates: [] })
  })
})

test('a pod of which it is unknown what it has stays as it is', () => {
  const input = { ...createInput(running), actuated: undefined }
  assert.equal(computeResizeActions(input, nothing), undefined)
  assert.equal(isResizing(input), false)
})
