import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createInstance as instance,
  createObservedPod,
  createObservedSandbox as sandbox,
} from '../../../../test/builders/create-observed-pod.ts'
import { createPod } from '../../../../test/builders/create-pod.ts'
import type { ObservedContainer, ObservedSandbox } from '../../../model/pod/observed-pod.ts'
import { computeSandboxChange } from './compute-sandbox-change.ts'
import type { SandboxChange } from './compute-sandbox-change.ts'

interface Row {
  readonly sandboxes: readonly ObservedSandbox[]
  readonly containers?: readonly ObservedContainer[]
  readonly hostNetwork?: boolean
  readonly expected: SandboxChange
}

const latest = { id: 's4', attempt: 4 }
const keep: SandboxChange = { needed: false, attempt: 4, sandboxId: 's4' }
const renew: SandboxChange = { needed: true, attempt: 5, sandboxId: 's4' }

const rows: Readonly<Record<string, Row>> = {
  'no sandbox at all': { sandboxes: [], expected: { needed: true, attempt: 0, sandboxId: '' } },
  'one that is fine': { sandboxes: [sandbox(latest)], expected: keep },
  'a dead one behind it': { sandboxes: [sandbox(latest), sandbox({ ready: false })], expected: keep },
  'two that are ready, the older one without a container': {
    sandboxes: [sandbox(latest), sandbox()],
    containers: [instance({ sandboxId: 's4' })],
    expected: keep,
  },
  'two that are ready, both with a container': {
    sandboxes: [sandbox(latest), sandbox()],
    containers: [instance({ sandboxId: 's4' }), instance({ name: 'side' })],
    expected: renew,
  },
  'two that are ready, what runs is in the older one': {
    sandboxes: [sandbox(latest), sandbox()],
    containers: [instance()],
    expected: renew,
  },
  'two ready ones behind a dead one': {
    sandboxes: [sandbox({ ...latest, ready: false }), sandbox({ id: 's1' }), sandbox()],
    expected: renew,
  },
  'the latest is dead': { sandboxes: [sandbox({ ...latest, ready: false })], expected: renew },
  'the latest is dead and an older one ready': {
    sandboxes: [sandbox({ ...latest, ready: false }), sandbox()],
    expected: renew,
  },
  'the pod wants the network of the node': {
    sandboxes: [sandbox(latest)],
    hostNetwork: true,
    expected: { ...renew, sandboxId: '' },
  },
  'the pod no longer wants the network of the node': {
    sandboxes: [sandbox({ ...latest, hostNetwork: true, ips: [] })],
    expected: { ...renew, sandboxId: '' },
  },
  'no address': { sandboxes: [sandbox({ ...latest, ips: [] })], expected: renew },
  'nothing known of the network': { sandboxes: [sandbox({ ...latest, ips: undefined })], expected: keep },
  'no address in the network of the node': {
    sandboxes: [sandbox({ ...latest, hostNetwork: true, ips: [] })],
    hostNetwork: true,
    expected: keep,
  },
}

describe('computeSandboxChange()', () => {
  for (const [name, { sandboxes, containers = [], hostNetwork, expected }] of Object.entries(rows)) {
    test(name, () => {
      const pod = createPod({ spec: { hostNetwork } })
      assert.deepEqual(computeSandboxChange(pod, createObservedPod({ sandboxes, containers })), expected)
    })
  }

  test('nothing else in the spec asks for another sandbox', () => {
    const pod = createPod({
      metadata: { labels: { new: 'label' }, annotations: { new: 'annotation' } },
      spec: { hostPID: true, dnsPolicy: 'None', securityContext: { sysctls: [{ name: 'a', value: 'b' }] } },
    })
    assert.deepEqual(computeSandboxChange(pod, createObservedPod({ sandboxes: [sandbox(latest)] })), keep)
  })
})
