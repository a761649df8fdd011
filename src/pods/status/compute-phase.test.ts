import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createContainerStatus } from '../../../test/builders/create-status-input.ts'
import type { Container, ContainerStatus } from '../../model/generated/core-v1.ts'
import { computePhase } from './compute-phase.ts'
import type { PodPhase } from './compute-phase.ts'

/** What is reported of a container: its state, or undefined when nothing is. */
type Reported = Partial<ContainerStatus> | undefined

const runs: Reported = { state: { running: {} }, started: true }
const runsNotStarted: Reported = { state: { running: {} }, started: false }
const waits: Reported = { state: { waiting: {} } }
const ended = (exitCode: number): Reported => ({ state: { terminated: { exitCode } } })
const waitsAfter = (exitCode: number): Reported => ({
  state: { waiting: {} },
  lastState: { terminated: { exitCode } },
})

const reset: Reported = {
  state: { waiting: { reason: 'ErrImagePull' } },
  lastState: { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } },
}

interface Row {
  readonly policy?: string
  readonly init?: readonly Reported[]
  /** Init containers at these places are sidecars. */
  readonly sidecars?: readonly number[]
  readonly regular: readonly Reported[]
  readonly own?: Partial<Container>
  readonly inSandbox?: false
  readonly ended?: true
  readonly isStatic?: true
  readonly expected: PodPhase
}

const initRows: Readonly<Record<string, Row>> = {
  'an init container failed for good': { policy: 'Never', init: [ended(1)], regular: [waits], expected: 'Failed' },
  'an init container failed for good and waits': {
    policy: 'Never',
    init: [waitsAfter(1)],
    regular: [waits],
    expected: 'Failed',
  },
  'failed for good comes before pending': {
    policy: 'Never',
    init: [ended(1), waits],
    regular: [waits],
    expected: 'Failed',
  },
  'an init container was killed for its memory, though its first process ended well': {
    policy: 'Never',
    init: [{ state: { terminated: { exitCode: 0, reason: 'OOMKilled' } } }],
    regular: [waits],
    expected: 'Failed',
  },
  'an init container was removed to restart all': {
    policy: 'Never',
    init: [reset],
    regular: [reset],
    expected: 'Running',
  },
  'an init container failed and starts again': { init: [ended(1)], regular: [waits], expected: 'Pending' },
  'an init container runs': { init: [runs], regular: [waits], expected: 'Pending' },
  'an init container runs beside a running one': { init: [runs], regular: [runs], expected: 'Pending' },
  'an init container waits': { init: [waits], regular: [runs], expected: 'Pending' },
  'nothing is reported of an init container': { init: [undefined], regular: [runs], expected: 'Pending' },
  'an init container backs off, the rest runs': { init: [waitsAfter(1)], regular: [runs], expected: 'Running' },
  'all init containers ended well': { init: [ended(0), ended(0)], regular: [runs], expected: 'Running' },
}

const sidecarRows: Readonly<Record<string, Row>> = {
  'a sidecar runs': { init: [runs], sidecars: [0], regular: [runs], expected: 'Running' },
  'a sidecar is not started, no regular container exists': {
    init: [runsNotStarted],
    sidecars: [0],
    regular: [waitsAfter(1)],
    inSandbox: false,
    expected: 'Pending',
  },
  'a sidecar is not started, a regular container exists': {
    init: [runsNotStarted],
    sidecars: [0],
    regular: [runs],
    expected: 'Running',
  },
  'a sidecar waits': { init: [waits], sidecars: [0], regular: [runs], expected: 'Pending' },
  'a sidecar backs off': { init: [waitsAfter(1)], sidecars: [0], regular: [runs], expected: 'Running' },
  'a sidecar ended': { policy: 'Never', init: [ended(1)], sidecars: [0], regular: [runs], expected: 'Running' },
  'nothing is reported of a sidecar': { init: [undefined], sidecars: [0], regular: [runs], expected: 'Pending' },
  'all ended but a sidecar': {
    policy: 'Never',
    init: [runs],
    sidecars: [0],
    regular: [ended(0)],
    expected: 'Running',
  },
  'all ended, the sidecar badly': {
    policy: 'Never',
    init: [ended(137)],
    sidecars: [0],
    regular: [ended(0)],
    expected: 'Succeeded',
  },
}

const regularRows: Readonly<Record<string, Row>> = {
  'nothing is reported': { regular: [undefined], expected: 'Pending' },
  'one waits': { regular: [waits, runs], expected: 'Pending' },
  'all run': { regular: [runs, runs], expected: 'Running' },
  'one runs and nothing is reported of another': { regular: [runs, undefined], expected: 'Pending' },
  'one runs, one backs off': { regular: [runs, waitsAfter(1)], expected: 'Running' },
  'one runs, one ended': { policy: 'Never', regular: [runs, ended(1)], expected: 'Running' },
  'it will start again': { regular: [ended(1)], expected: 'Running' },
  'it backs off': { regular: [waitsAfter(1)], expected: 'Running' },
  'it ended well and will start again': { regular: [ended(0)], expected: 'Running' },
  'on failure, it ended well': { policy: 'OnFailure', regular: [ended(0)], expected: 'Succeeded' },
  'on failure, one ended well and one will start again': {
    policy: 'OnFailure',
    regular: [ended(0), ended(1)],
    expected: 'Running',
  },
  'never again, all ended well': { policy: 'Never', regular: [ended(0), ended(0)], expected: 'Succeeded' },
  'never again, one ended badly': { policy: 'Never', regular: [ended(0), ended(1)], expected: 'Failed' },
  'never again, but by its own rule': {
    policy: 'Never',
    own: {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    },
    regular: [ended(42)],
    expected: 'Running',
  },
  'always, but never by its own policy': { own: { restartPolicy: 'Never' }, regular: [ended(1)], expected: 'Failed' },
  'ended, all ended well': { ended: true, regular: [ended(0)], expected: 'Succeeded' },
  'ended, one ended badly': { ended: true, regular: [ended(0), ended(137)], expected: 'Failed' },
  'ended, one backed off after it ended well': { ended: true, regular: [waitsAfter(0)], expected: 'Failed' },
  'ended, but static': { ended: true, isStatic: true, regular: [ended(0)], expected: 'Running' },
  'ended before it began': { ended: true, regular: [waits], expected: 'Pending' },
}

describe('computePhase()', () => {
  for (const [name, row] of Object.entries({ ...initRows, ...sidecarRows, ...regularRows })) {
    test(name, () => {
      const { policy, init = [], sidecars = [], regular, own = {} } = row
      const pod = createPod({
        metadata: row.isStatic === true ? { annotations: { 'kubernetes.io/config.source': 'file' } } : {},
        spec: {
          restartPolicy: policy,
          initContainers: init.map((_, index) =>
            createContainer({ name: `i${index}`, ...(sidecars.includes(index) ? { restartPolicy: 'Always' } : {}) }),
          ),
          containers: regular.map((_, index) => createContainer({ name: `r${index}`, ...own })),
        },
      })
      const phase = computePhase({
        pod,
        init: toStatuses('i', init),
        regular: toStatuses('r', regular),
        regularInSandbox: row.inSandbox ?? true,
        ended: row.ended ?? false,
      })
      assert.equal(phase, row.expected)
    })
  }
})

function toStatuses(prefix: string, all: readonly Reported[]): ContainerStatus[] {
  return all.flatMap((reported, index) =>
    reported === undefined ? [] : createContainerStatus({ name: `${prefix}${index}`, ...reported }),
  )
}
