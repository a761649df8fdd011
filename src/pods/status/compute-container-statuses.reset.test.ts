import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance as instance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createContainerStatus as reported, createStatusInput } from '../../../test/builders/create-status-input.ts'
import type { ContainerStatus } from '../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../model/pod/observed-pod.ts'
import { computeContainerStatuses } from './compute-container-statuses.ts'

const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]
const pod = createPod({
  spec: {
    initContainers: [createContainer({ name: 'i' })],
    containers: [
      createContainer({ name: 'asks', restartPolicy: 'Never', restartPolicyRules: rules }),
      createContainer({ name: 'peer' }),
    ],
  },
})
const RESET = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
}
const reset = (name: string, restartCount = 1): ContainerStatus => ({
  ...reported({ name, restartCount }),
  started: false,
  state: { waiting: RESET },
  lastState: { terminated: { exitCode: 137, ...RESET } },
})
const containerID = 'containerd://c-1'
const ran = (name: string) => reported({ name, containerID, state: { running: {} } })
const ended = (name: string, exitCode: number) => reported({ name, containerID, state: { terminated: { exitCode } } })

interface Row {
  readonly has?: readonly ObservedContainer[]
  readonly restarting?: boolean
  readonly old: ContainerStatus
  readonly kind?: 'init'
  readonly expected: ContainerStatus
}

const trigger = instance({ name: 'asks', state: 'exited', exitCode: 42 })
const rows: Readonly<Record<string, Row>> = {
  'it ran, and is gone while what asked for it is still there': {
    has: [trigger],
    old: ran('peer'),
    expected: reset('peer'),
  },
  'it had ended, and is gone': { restarting: true, old: ended('peer', 0), expected: reset('peer') },
  'an init container is gone, though a regular one is still there': {
    kind: 'init',
    has: [trigger],
    old: ended('i', 0),
    expected: reset('i'),
  },
  'an init container was gone before it was observed': {
    kind: 'init',
    has: [trigger],
    old: reported({ name: 'i', state: { terminated: { exitCode: 0, reason: 'Completed' } } }),
    expected: reported({ name: 'i', state: { terminated: { exitCode: 0, reason: 'Completed' } } }),
  },
  'it was reported before, and is not counted twice': { restarting: true, old: reset('peer'), expected: reset('peer') },
  'it waits for its turn when the rest has ended': { old: reset('peer', 3), expected: reset('peer', 3) },
  'nothing restarts': { old: ended('peer', 0), expected: ended('peer', 0) },
}

describe('computeContainerStatuses() and a restart of all containers', () => {
  for (const [name, { has = [], restarting = false, old, kind = 'regular', expected }] of Object.entries(rows)) {
    test(name, () => {
      const list = kind === 'init' ? 'initContainerStatuses' : 'containerStatuses'
      const condition = { type: 'AllContainersRestarting', status: restarting ? 'True' : 'False' }
      const input = createStatusInput({
        pod,
        observed: createObservedPod({ containers: has }),
        previous: { conditions: [condition], [list]: [old] },
      })
      const containers = kind === 'init' ? (pod.spec.initContainers ?? []) : pod.spec.containers
      const status = computeContainerStatuses(input, kind, containers).find((one) => one.name === old.name)
      assert.deepEqual(status, expected)
    })
  }
})
