import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createObservedContainer, createObservedPod } from '../../../test/component/create-pod-deps.ts'
import { DeviceAssignments } from './device-assignments.ts'
import { findNotedDevices } from './find-noted-devices.ts'
import { ContainerAllocateResponse } from './generated/device-plugin-v1beta1.ts'

test('findNotedDevices() takes what runs to have what it was made with, unless another is recorded to have it', () => {
  const response = ContainerAllocateResponse.create()
  const { uid } = createObservedPod()
  const recorded = { uid, container: 'main', resource: 'r.com/x', byNode: new Map([[-1, ['a']]]), response }
  const assignments = new DeviceAssignments({
    inventory: { knows: () => true, devices: () => new Map() },
    recorded: [recorded],
    numaNodes: [0],
    onChange: () => {},
  })
  const note = (ids: string) => JSON.stringify({ 'r.com/x': ids.split('') })
  const observed = createObservedPod({
    containers: [
      createObservedContainer({ name: 'main', devices: note('z') }),
      createObservedContainer({ name: 'lost', devices: note('bc') }),
      createObservedContainer({ name: 'clash', devices: note('cd') }),
      createObservedContainer({ name: 'ended', state: 'exited', devices: note('e') }),
      createObservedContainer({ name: 'plain' }),
    ],
  })
  assert.deepEqual(findNotedDevices(assignments, [observed]), [{ uid, container: 'lost', resource: 'r.com/x' }])
  assert.deepEqual(
    assignments.list().map(({ container, devices }) => `${container} ${devices.kind} ${devices.ids.join('')}`),
    ['lost reserved bc', 'main given a'],
  )
})
