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

const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]
const asks = (name: string) => container(name, { restartPolicy: 'Never', restartPolicyRules: rules })
const spec = {
  restartPolicy: 'Never',
  initContainers: [sidecar('s'), container('i')],
  containers: [asks('main'), container('b')],
}
const peers = [instance({ name: 'b' }), exited('i'), instance({ name: 's' })]

const rows: Readonly<Record<string, PodActionsRow>> = {
  'what asked for it goes last, and its newest instance after its older ones': {
    spec,
    has: [exited('main', 42, { restartCount: 1 }), exited('main', 1), ...peers],
    expected: {
      ...kept,
      reset: {
        triggers: [start('main', 'regular', 5000)],
        groups: [
          [instance({ name: 'b' })],
          [exited('i'), instance({ name: 's' })],
          [exited('main', 1)],
          [exited('main', 42, { restartCount: 1 })],
        ],
      },
    },
  },
  'an init container asks for it': {
    spec: { initContainers: [container('a'), asks('i')] },
    has: [exited('i', 42), exited('a')],
    expected: {
      ...kept,
      reset: { triggers: [start('i', 'init', 5000)], groups: [[exited('a')], [exited('i', 42)]] },
    },
  },
  'containers for debugging stay': {
    spec: { ...spec, initContainers: [], ephemeralContainers: [container('debug')] },
    has: [exited('main', 42), instance({ name: 'debug' })],
    expected: { ...kept, reset: { triggers: [start('main', 'regular', 5000)], groups: [[exited('main', 42)]] } },
  },
  'what asked for it backs off, the others go on': {
    spec,
    has: [exited('main', 42), ...peers],
    backOff: { main: { delayMs: 40_000, lastStartAt: 0 } },
    expected: { ...kept, backingOff: [{ kind: 'regular', name: 'main', untilMs: 45_000, delayMs: 40_000 }] },
  },
  'all is gone, so it begins with the first init container': {
    spec,
    has: [],
    expected: { ...kept, start: [start('s', 'init')] },
  },
  'the sandbox died too': {
    spec: { ...spec, initContainers: [] },
    sandboxes: deadSandbox,
    has: [exited('main', 42), exited('b')],
    expected: { ...renewed, start: [start('main', 'regular', 5000)] },
  },
  'a pod that is deleted': {
    spec: { ...spec, initContainers: [] },
    deleted: true,
    has: [exited('main', 42), exited('b')],
    expected: { ...kept, killPod: true },
  },
}

describe('computePodActions() and a restart of all containers', () => {
  for (const [name, row] of Object.entries(rows)) test(name, () => checkPodActions(row))
})
