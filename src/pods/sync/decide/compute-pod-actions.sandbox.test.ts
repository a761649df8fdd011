import { describe, test } from 'node:test'
import {
  createInstance as instance,
  createObservedSandbox as sandbox,
} from '../../../../test/builders/create-observed-pod.ts'
import {
  checkPodActions,
  container,
  deadSandbox,
  exited,
  kept,
  renewed,
  start,
} from '../../../../test/builders/pod-actions-row.ts'
import type { PodActionsRow } from '../../../../test/builders/pod-actions-row.ts'
import type { PodActions } from './pod-actions.ts'

const first: PodActions = { ...kept, createSandbox: true, sandboxId: '' }
const ended: PodActions = { ...kept, attempt: 1, ended: true }
const sandboxRows: Readonly<Record<string, PodActionsRow>> = {
  'a new pod': { sandboxes: [], expected: { ...first, start: [start('main')] } },
  'a new pod with init containers starts the first of them': {
    sandboxes: [],
    spec: { initContainers: [container('a'), container('b')] },
    expected: { ...first, start: [start('a', 'init')] },
  },
  'a new pod with several containers starts them in the order of the spec': {
    sandboxes: [],
    spec: { containers: [container('z'), container('a')] },
    expected: { ...first, start: [start('z'), start('a')] },
  },
  'a new pod that is deleted': { sandboxes: [], deleted: true, expected: { ...kept, sandboxId: '', ended: true } },
  'the sandbox died before anything started': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never' },
    expected: { ...renewed, start: [start('main')] },
  },
  'the sandbox died': {
    sandboxes: deadSandbox,
    has: [exited('main', 137)],
    expected: { ...renewed, start: [start('main', 'regular', 5000)] },
  },
  'the sandbox died, the pod has init containers': {
    sandboxes: deadSandbox,
    spec: { initContainers: [container('a'), container('b')] },
    has: [exited('main', 137), exited('b'), exited('a')],
    expected: { ...renewed, start: [start('a', 'init', 5000)] },
  },
  'the sandbox died under a running container': {
    sandboxes: deadSandbox,
    has: [instance()],
    expected: { ...renewed, start: [start('main')] },
  },
  'the sandbox died, the pod never restarts': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never' },
    has: [exited('main', 137)],
    expected: ended,
  },
  'the sandbox died, the pod never restarts and something runs': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never' },
    has: [instance()],
    expected: { ...ended, killPod: true, ended: false },
  },
  'the sandbox died, the pod never restarts and something is unknown': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never' },
    has: [instance({ state: 'unknown' })],
    expected: { ...ended, killPod: true, ended: false },
  },
  'the sandbox died, the pod never restarts, a container was never made': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never', containers: [container('main'), container('b')] },
    has: [exited('main')],
    expected: ended,
  },
  'the sandbox died, the pod never restarts, a container restarts by its own policy': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never', containers: [container('main', { restartPolicy: 'Always' }), container('b')] },
    has: [exited('b', 137), exited('main', 137)],
    expected: { ...renewed, start: [start('main', 'regular', 5000)] },
  },
  'the sandbox died, the pod never restarts, a container that would by its own policy was never made': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never', containers: [container('main'), container('b', { restartPolicy: 'OnFailure' })] },
    has: [instance()],
    expected: { ...renewed, start: [start('b')] },
  },
  'the sandbox died, the pod never restarts, a container ended for good by its own policy': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'Never', containers: [container('main', { restartPolicy: 'OnFailure' }), container('b')] },
    has: [exited('main')],
    expected: ended,
  },
  'the sandbox died, what ended well does not start again on failure': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'OnFailure', containers: [container('a'), container('b'), container('c')] },
    has: [exited('b', 1), exited('a')],
    expected: { ...renewed, start: [start('b', 'regular', 5000), start('c')] },
  },
  'the sandbox died, all ended well on failure': {
    sandboxes: deadSandbox,
    spec: { restartPolicy: 'OnFailure' },
    has: [exited('main')],
    expected: ended,
  },
  'the sandbox died, a container of its own policy does not start again': {
    sandboxes: deadSandbox,
    spec: {
      containers: [
        container('a', { restartPolicy: 'OnFailure' }),
        container('b', { restartPolicy: 'Never' }),
        container('c'),
      ],
    },
    has: [exited('c'), exited('b', 1), exited('a')],
    expected: { ...renewed, start: [start('c', 'regular', 5000)] },
  },
  'the sandbox died after an init container failed for good': {
    sandboxes: deadSandbox,
    spec: { initContainers: [container('a', { restartPolicy: 'Never' })] },
    has: [exited('a', 1)],
    expected: ended,
  },
  'the sandbox died, the pod is deleted': {
    sandboxes: deadSandbox,
    deleted: true,
    has: [exited('main', 137)],
    expected: ended,
  },
  'two sandboxes are ready': {
    sandboxes: [sandbox({ id: 's1', attempt: 1 }), sandbox()],
    has: [instance()],
    expected: { ...renewed, attempt: 2, sandboxId: 's1', start: [start('main')] },
  },
  'the network mode changed': {
    sandboxes: [sandbox({ hostNetwork: true })],
    has: [instance()],
    expected: { ...renewed, sandboxId: '', start: [start('main')] },
  },
}

describe('computePodActions() and the sandbox', () => {
  for (const [name, row] of Object.entries(sandboxRows)) test(name, () => checkPodActions(row))
})
