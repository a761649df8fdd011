import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createInstance as instance,
  createObservedPod,
  createObservedSandbox as sandbox,
} from '../../../../test/builders/create-observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { computeLeftovers, type LeftoverRule } from './compute-leftovers.ts'

interface Row {
  readonly observed: Partial<ObservedPod>
  readonly keep?: number
  readonly rule?: Omit<LeftoverRule, 'kept'>
  readonly containers?: readonly string[]
  readonly sandboxes?: readonly string[]
}

const exited = (restartCount: number, name = 'main', sandboxId = 's0') =>
  instance({ name, state: 'exited', restartCount, sandboxId })

const rows: Readonly<Record<string, Row>> = {
  'nothing at all': { observed: { sandboxes: [] } },
  'the newest dead instance stays': { observed: { containers: [instance({ restartCount: 1 }), exited(0)] } },
  'older dead instances go': {
    observed: { containers: [instance({ restartCount: 3 }), exited(2), exited(1), exited(0)] },
    containers: ['main-1', 'main-0'],
  },
  'each container is counted by itself': {
    observed: { containers: [exited(1), exited(1, 'side'), exited(0), exited(0, 'side')] },
    containers: ['main-0', 'side-0'],
  },
  'as many stay as are asked for': {
    observed: { containers: [exited(2), exited(1), exited(0)] },
    keep: 2,
    containers: ['main-0'],
  },
  'one stays even when none is asked for': {
    observed: { containers: [exited(1), exited(0)] },
    keep: 0,
    containers: ['main-0'],
  },
  'young ones stay, and are not counted': {
    observed: {
      containers: [2000, 1000, 500].map((createdAt, index) => ({ ...exited(2 - index), createdAt })),
    },
    rule: { createdBefore: 1500 },
    containers: ['main-0'],
  },
  'what is too many on the node goes, unless it is young': {
    observed: {
      containers: [
        { ...exited(0), createdAt: 1 },
        { ...exited(0, 'side'), createdAt: 2000 },
      ],
    },
    rule: { createdBefore: 1500, surplus: new Set(['main-0', 'side-0']) },
    containers: ['main-0'],
  },
  'what runs is no leftover, however old': { observed: { containers: [exited(1), instance()] } },
  'the newest instance stays whatever its state': {
    observed: { containers: [instance({ state: 'created' }), instance({ name: 'side', state: 'unknown' })] },
  },
  'instances overtaken before they ran go': {
    observed: {
      containers: [
        instance({ restartCount: 2 }),
        instance({ restartCount: 1, state: 'unknown' }),
        instance({ state: 'created' }),
      ],
    },
    containers: ['main-1', 'main-0'],
  },
  'a dead sandbox goes, the newest stays': {
    observed: { sandboxes: [sandbox({ id: 's2', ready: false }), sandbox({ id: 's1', ready: false }), sandbox()] },
    sandboxes: ['s1'],
  },
  'a ready sandbox behind a newer one goes': {
    observed: {
      sandboxes: [sandbox({ id: 's1' }), sandbox()],
      containers: [instance({ sandboxId: 's1' })],
    },
    sandboxes: ['s0'],
  },
  'a ready sandbox behind a newer one stays while it has a container': {
    observed: {
      sandboxes: [sandbox({ id: 's1' }), sandbox()],
      containers: [instance(), instance({ name: 'side', sandboxId: 's1' })],
    },
  },
  'a ready sandbox behind a dead one stays: the pod begins again': {
    observed: { sandboxes: [sandbox({ id: 's1', ready: false }), sandbox()] },
  },
  'a dead sandbox stays with its container': {
    observed: {
      sandboxes: [sandbox({ id: 's1' }), sandbox({ ready: false })],
      containers: [instance({ restartCount: 1, sandboxId: 's1' }), exited(0)],
    },
  },
  'a dead sandbox goes with its last container': {
    observed: {
      sandboxes: [sandbox({ id: 's1' }), sandbox({ ready: false })],
      containers: [exited(1, 'main', 's1'), exited(0)],
    },
    containers: ['main-0'],
    sandboxes: ['s0'],
  },
}

describe('computeLeftovers()', () => {
  for (const [name, { observed, keep = 1, rule = {}, containers = [], sandboxes = [] }] of Object.entries(rows)) {
    test(name, () => {
      const leftovers = computeLeftovers(createObservedPod(observed), { kept: keep, ...rule })
      assert.deepEqual(
        {
          containers: leftovers.containers.map(({ id }) => id),
          sandboxes: leftovers.sandboxes.map(({ id }) => id),
        },
        { containers, sandboxes },
      )
    })
  }
})
