import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalSysctlName } from './sysctl-name.ts'

test('normalSysctlName() gives the form with dots', () => {
  const names = ['net.ipv4.ip_forward', 'net/ipv4/ip_forward', 'net/ipv4/conf/eno2.100/rp_filter', 'kernel']
  assert.deepEqual(names.map(normalSysctlName), [
    'net.ipv4.ip_forward',
    'net.ipv4.ip_forward',
    'net.ipv4.conf.eno2/100.rp_filter',
    'kernel',
  ])
})
