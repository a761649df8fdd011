import { describe, test } from 'node:test'
import { createInstance as instance } from '../../../../test/builders/create-observed-pod.ts'
import { checkPodActions, container, exited, kept, sidecar, start } from '../../../../test/builders/pod-actions-row.ts'
import type { PodActionsRow } from '../../../../test/builders/pod-actions-row.ts'
import type { PodActions } from './pod-actions.ts'

const first: PodActions = { ...kept, createSandbox: true, sandboxId: '' }
const ended: PodActions = { ...kept, killPod: true }
const containerRows: Readonly<Record<string, PodActionsRow>> = {
  'all runs': { has: [instance()], expected: kept },
  'a container is missing': { expected: { ...kept, start: [start('main')] } },
  'a container exited': {
    has: [exited('main', 1)],
    expected: { ...kept, start: [start('main', 'regular', 5000)] },
  },
  'the init containers are not through': {
    spec: { initContainers: [container('a')] },
    has: [instance({ name: 'a' })],
    expected: kept,
  },
  'the last init container ended well, so the regular ones start in the same pass': {
    spec: { initContainers: [container('a')] },
    has: [exited('a')],
    expected: { ...kept, start: [start('main')] },
  },
  'an init container failed for good': {
    spec: { initContainers: [container('a')], restartPolicy: 'Never' },
    has: [exited('a', 1)],
    expected: ended,
  },
  'a sidecar and a regular container start together, the sidecar first': {
    spec: { initContainers: [sidecar('s')] },
    has: [instance({ state: 'created' }), exited('s', 1)],
    expected: { ...kept, start: [start('s', 'init', 5000), start('main')] },
  },
  'everything has ended': { spec: { restartPolicy: 'Never' }, has: [exited('main', 1)], expected: ended },
  'everything has ended, a sidecar that exited does not start again': {
    spec: { restartPolicy: 'Never', initContainers: [sidecar('s')] },
    has: [exited('main'), instance({ name: 's' })],
    expected: ended,
  },
  'one container has ended, another runs': {
    spec: { restartPolicy: 'Never', containers: [container('main'), container('b')] },
    has: [exited('main', 1), instance({ name: 'b' })],
    expected: kept,
  },
  'the only container is not alive and may not restart': {
    spec: { restartPolicy: 'Never' },
    has: [instance()],
    notAlive: ['main-0'],
    expected: ended,
  },
  'kills of sidecars come before those of regular containers': {
    spec: { initContainers: [sidecar('s')] },
    has: [instance(), instance({ name: 's' })],
    notAlive: ['main-0', 's-0'],
    expected: {
      ...kept,
      kill: [
        { id: 's-0', name: 's', cause: 'liveness', message: 'Init container s failed liveness probe' },
        {
          id: 'main-0',
          name: 'main',
          cause: 'liveness',
          message: 'Container main failed liveness probe, will be restarted',
        },
      ],
      start: [start('s', 'init'), start('main')],
    },
  },
  'a deleted pod starts nothing': {
    deleted: true,
    spec: { initContainers: [sidecar('s')], ephemeralContainers: [{ name: 'debug' }] },
    has: [instance()],
    expected: kept,
  },
  'a deleted pod that is not through its init containers starts nothing': {
    deleted: true,
    spec: { initContainers: [container('a')] },
    expected: kept,
  },
}

const ephemeral = [{ name: 'debug' }]
const ephemeralRows: Readonly<Record<string, PodActionsRow>> = {
  'an ephemeral container starts beside a running pod': {
    spec: { ephemeralContainers: ephemeral },
    has: [instance()],
    expected: { ...kept, start: [start('debug', 'ephemeral')] },
  },
  'an ephemeral container starts before the init containers are through': {
    spec: { ephemeralContainers: ephemeral, initContainers: [container('a')] },
    expected: { ...kept, start: [start('debug', 'ephemeral'), start('a', 'init')] },
  },
  'an ephemeral container never starts again': {
    spec: { ephemeralContainers: ephemeral },
    has: [instance(), exited('debug', 1)],
    expected: kept,
  },
  'an ephemeral container that was made counts as started': {
    spec: { ephemeralContainers: ephemeral },
    has: [instance(), instance({ name: 'debug', state: 'created' })],
    expected: kept,
  },
  'an ephemeral container waits for the sandbox': {
    spec: { ephemeralContainers: ephemeral },
    sandboxes: [],
    expected: { ...first, start: [start('main')] },
  },
}

const surplus = (id: string, name: string) => ({
  id,
  name,
  cause: 'surplus' as const,
  message: `Container ${name} runs twice, the older one is stopped`,
})
const surplusRows: Readonly<Record<string, PodActionsRow>> = {
  'the older of two running copies is stopped': {
    has: [instance({ restartCount: 1 }), instance()],
    expected: { ...kept, kill: [surplus('main-0', 'main')] },
  },
  'all older copies are stopped': {
    has: [instance({ restartCount: 2 }), instance({ restartCount: 1 }), instance()],
    expected: { ...kept, kill: [surplus('main-1', 'main'), surplus('main-0', 'main')] },
  },
  'an older copy is stopped before a newer one that was made is started': {
    has: [instance({ restartCount: 1, state: 'created' }), instance()],
    expected: { ...kept, kill: [surplus('main-0', 'main')], start: [start('main')] },
  },
  'an older copy of an init container is stopped': {
    spec: { initContainers: [container('a')] },
    has: [instance({ name: 'a', restartCount: 1 }), instance({ name: 'a' })],
    expected: { ...kept, kill: [surplus('a-0', 'a')] },
  },
  'an older copy of an ephemeral container is stopped': {
    spec: { ephemeralContainers: ephemeral },
    has: [instance(), exited('debug', 0, { restartCount: 1 }), instance({ name: 'debug' })],
    expected: { ...kept, kill: [surplus('debug-0', 'debug')] },
  },
  'older copies that ended are no surplus': {
    has: [instance({ restartCount: 1 }), exited('main', 1)],
    expected: kept,
  },
}

describe('computePodActions() in a sandbox that is fine', () => {
  for (const [name, row] of Object.entries({ ...containerRows, ...ephemeralRows, ...surplusRows }))
    test(name, () => checkPodActions(row))
})
