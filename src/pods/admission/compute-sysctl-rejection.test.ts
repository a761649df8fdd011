import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import { computeSysctlRejection } from './compute-sysctl-rejection.ts'

const ALLOWED = ['net.ipv4.tcp_syncookies', 'kernel.shm_rmid_forced', 'kernel.msg*', 'net/core/*']

describe('computeSysctlRejection()', () => {
  const rows: readonly (readonly [sysctl: string, spec: Partial<PodSpec>, expected: string | undefined])[] = [
    ['net.ipv4.tcp_syncookies', {}, undefined],
    ['net/ipv4/tcp_syncookies', {}, undefined],
    ['kernel.msgmax', {}, undefined],
    ['net.core.somaxconn', {}, undefined],
    ['net.ipv4.tcp_syncookies2', {}, 'forbidden sysctl: "net.ipv4.tcp_syncookies2" not allowlisted'],
    ['net/ipv4/ip_forward', {}, 'forbidden sysctl: "net.ipv4.ip_forward" not allowlisted'],
    ['kernel.sem', { hostIPC: true }, 'forbidden sysctl: "kernel.sem" not allowlisted'],
    [
      'net.core.somaxconn',
      { hostNetwork: true },
      'forbidden sysctl: "net.core.somaxconn" not allowed with host Net enabled',
    ],
    ['kernel.msgmax', { hostIPC: true }, 'forbidden sysctl: "kernel.msgmax" not allowed with host IPC enabled'],
    ['kernel.msgmax', { hostNetwork: true }, undefined],
    ['net.core.somaxconn', { hostIPC: true }, undefined],
  ]
  for (const [name, spec, expected] of rows) {
    test(`${name} ${JSON.stringify(spec)}`, () => {
      const sysctls = [
        { name: 'net.core.rmem_default', value: '1' },
        { name, value: '1' },
      ]
      const pod = createPod({
        spec: { ...spec, securityContext: { sysctls: sysctls.slice(spec.hostNetwork ? 1 : 0) } },
      })
      const rejection = computeSysctlRejection(pod, ALLOWED)
      assert.deepEqual(rejection, expected === undefined ? undefined : { reason: 'SysctlForbidden', message: expected })
    })
  }

  test('has nothing against a pod without any', () => {
    assert.equal(computeSysctlRejection(createPod({ spec: { hostNetwork: true, hostIPC: true } }), []), undefined)
  })
})
