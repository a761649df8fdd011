import { describe, test } from 'node:test'
import { createInstance as instance } from '../../../../test/builders/create-observed-pod.ts'
import {
  checkPodActions,
  container,
  deadSandbox,
  exited,
  kept,
  renewed,
  sidecar,
  start,
} from '../../../../test/builders/pod-actions-row.ts'
import type { PodActionsRow } from '../../../../test/builders/pod-actions-row.ts'
import type { CrashBackOff } from './compute-crash-back-off.ts'

const wait = (delayMs: number, lastStartAt = 0): CrashBackOff => ({ delayMs, lastStartAt })
const backOffRows: Readonly<Record<string, PodActionsRow>> = {
  'a container waits for its back-off': {
    has: [exited('main', 1)],
    backOff: { main: wait(40_000) },
    expected: {
      ...kept,
      backingOff: [{ kind: 'regular', name: 'main', untilMs: 45_000, delayMs: 40_000 }],
    },
  },
  'a container that exited well waits too': {
    has: [exited('main', 0)],
    backOff: { main: wait(40_000) },
    expected: {
      ...kept,
      backingOff: [{ kind: 'regular', name: 'main', untilMs: 45_000, delayMs: 40_000 }],
    },
  },
  'the back-off has ended': {
    has: [exited('main', 1)],
    backOff: { main: wait(10_000) },
    expected: { ...kept, start: [start('main', 'regular', 5000)] },
  },
  'the back-off is forgiven': {
    has: [exited('main', 1)],
    backOff: { main: wait(300_000, 5000 - 600_001) },
    expected: { ...kept, start: [start('main', 'regular', 5000)] },
  },
  'no instance ended, so there is nothing to wait for': {
    backOff: { main: wait(40_000) },
    expected: { ...kept, start: [start('main')] },
  },
  'another image does not wait': {
    has: [exited('main', 1, { hash: 'old' })],
    backOff: { main: wait(40_000) },
    expected: { ...kept, start: [start('main', 'regular', 5000)] },
  },
  'the others do not wait for a regular container': {
    spec: { containers: [container('a'), container('main')] },
    has: [exited('a', 1)],
    backOff: { a: wait(40_000) },
    expected: {
      ...kept,
      start: [start('main')],
      backingOff: [{ kind: 'regular', name: 'a', untilMs: 45_000, delayMs: 40_000 }],
    },
  },
  'the others do not wait for a sidecar': {
    spec: { initContainers: [sidecar('s')] },
    has: [instance({ state: 'created' }), exited('s', 1)],
    backOff: { s: wait(40_000) },
    expected: {
      ...kept,
      start: [start('main')],
      backingOff: [{ kind: 'init', name: 's', untilMs: 45_000, delayMs: 40_000 }],
    },
  },
  'an init container waits': {
    spec: { initContainers: [container('a'), container('b')] },
    has: [exited('a', 1)],
    backOff: { a: wait(40_000) },
    expected: { ...kept, backingOff: [{ kind: 'init', name: 'a', untilMs: 45_000, delayMs: 40_000 }] },
  },
  'a kill for its probe is judged by the instance before it': {
    has: [instance({ restartCount: 1 }), exited('main', 1)],
    notAlive: ['main-1'],
    backOff: { main: wait(40_000) },
    expected: {
      ...kept,
      kill: [
        {
          id: 'main-1',
          name: 'main',
          cause: 'liveness',
          message: 'Container main failed liveness probe, will be restarted',
        },
      ],
      backingOff: [{ kind: 'regular', name: 'main', untilMs: 45_000, delayMs: 40_000 }],
    },
  },
  'a new sandbox is made while its container waits': {
    sandboxes: deadSandbox,
    has: [exited('main', 1)],
    backOff: { main: wait(40_000) },
    expected: { ...renewed, backingOff: [{ kind: 'regular', name: 'main', untilMs: 45_000, delayMs: 40_000 }] },
  },
}

describe('computePodActions() and the crash back-off', () => {
  for (const [name, row] of Object.entries(backOffRows)) test(name, () => checkPodActions(row))
})
