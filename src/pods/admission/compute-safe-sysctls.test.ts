import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeSafeSysctls } from './compute-safe-sysctls.ts'

const ALWAYS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const SINCE_4_5 = ['net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes']
const RESERVED_PORTS = 'net.ipv4.ip_local_reserved_ports'
const SINCE_4_15 = [
  ...ALWAYS,
  RESERVED_PORTS,
  ...SINCE_4_5,
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]

describe('computeSafeSysctls()', () => {
  const rows: readonly (readonly [release: string, expected: readonly string[]])[] = [
    ['3.15.0', ALWAYS],
    ['3.16.0-4-amd64', [...ALWAYS, RESERVED_PORTS]],
    ['4.5.7', [...ALWAYS, RESERVED_PORTS, ...SINCE_4_5]],
    ['4.14.336', SINCE_4_15.filter((name) => !name.endsWith('mem'))],
    ['4.15.0', SINCE_4_15],
    ['6.1.0-18-amd64', SINCE_4_15],
    ['5', SINCE_4_15],
    ['a kernel of another kind', ALWAYS],
  ]
  for (const [release, expected] of rows) {
    test(`kernel ${release}`, () => assert.deepEqual(computeSafeSysctls(release), expected))
  }
})
