import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeClaimHealth } from './compute-claim-health.ts'
import type { ClaimLine } from './compute-claim-health.ts'

const device: ClaimLine['devices'][number] = {
  driver: 'a.example',
  poolName: 'pool',
  deviceName: 'gpu-0',
  shareId: undefined,
  requestNames: [],
  cdiDeviceIds: ['a.example/gpu=0', 'a.example/gpu=0-extra'],
  health: 'Unhealthy',
  message: 'hot',
}
const bare = { ...device, deviceName: 'gpu-1', cdiDeviceIds: [], health: 'Healthy', message: '' } as const

test('computeClaimHealth() has a line for each claim, and each device once', () => {
  const lines = [
    { claim: { name: 'gpu' }, devices: [device, device, bare] },
    { claim: { name: 'gpu', request: 'one' }, devices: [bare] },
    { claim: { name: 'nic' }, devices: [] },
  ]
  const known = { resourceID: 'a.example/gpu=0', health: 'Unhealthy' }
  const named = { resourceID: 'a.example/pool/gpu-1', health: 'Healthy' }
  assert.deepEqual(computeClaimHealth(lines, true), [
    { name: 'claim:gpu', resources: [{ ...known, message: 'hot' }, named] },
    { name: 'claim:gpu/one', resources: [named] },
  ])
  assert.deepEqual(computeClaimHealth(lines.slice(0, 1), false), [{ name: 'claim:gpu', resources: [known, named] }])
})
