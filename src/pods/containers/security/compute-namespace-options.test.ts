import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { NamespaceMode } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { NamespaceOption } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { PodSpec } from '../../../model/generated/core-v1.ts'
import { computeNamespaceOptions } from './compute-namespace-options.ts'
import { SandboxConfigError } from '../pod-config-error.ts'

const { POD, NODE, CONTAINER } = NamespaceMode
const own: NamespaceOption = {
  network: POD,
  ipc: POD,
  pid: CONTAINER,
  targetId: '',
  usernsOptions: { mode: NODE, uids: [], gids: [] },
}
const mapping = { uids: [{ hostId: 65536, containerId: 0, length: 65536 }], gids: [] }

describe('computeNamespaceOptions()', () => {
  const rows: readonly (readonly [Partial<PodSpec>, Partial<NamespaceOption>])[] = [
    [{}, {}],
    [{ securityContext: undefined }, {}],
    [{ hostNetwork: true }, { network: NODE }],
    [{ hostIPC: true }, { ipc: NODE }],
    [{ hostPID: true }, { pid: NODE }],
    [{ shareProcessNamespace: true }, { pid: POD }],
    [{ hostPID: true, shareProcessNamespace: true }, { pid: NODE }],
    [{ hostUsers: true }, {}],
    [{ hostUsers: false }, { usernsOptions: { mode: POD, ...mapping } }],
  ]
  for (const [spec, expected] of rows) {
    test(JSON.stringify(spec), () => {
      assert.deepEqual(computeNamespaceOptions(createPod({ spec }), mapping), { ...own, ...expected })
    })
  }

  test('rejects a user namespace for which no users are set aside', () => {
    assert.throws(
      () => computeNamespaceOptions(createPod({ spec: { hostUsers: false } }), undefined),
      new SandboxConfigError('Cannot give pod "web" a user namespace: no range of users is set aside for it'),
    )
  })
})
