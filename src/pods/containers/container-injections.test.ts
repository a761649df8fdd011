import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findConflicts, mergeInjections, NO_INJECTIONS } from './container-injections.ts'
import type { ContainerInjections } from './container-injections.ts'

const mount = {
  containerPath: '/lib',
  hostPath: '/opt/a',
  readOnly: true,
  recursiveReadOnly: false,
  propagation: 'None',
  selinuxRelabel: false,
} as const

test('mergeInjections() puts everything together; of two things under one name the first counts', () => {
  const first: ContainerInjections = {
    variables: [{ name: 'A', value: '1' }],
    mounts: [mount],
    devices: [{ containerPath: '/dev/a', hostPath: '/dev/a0', permissions: 'rw' }],
    annotations: { 'test/a': '1' },
    cdiDevices: ['test/a=0'],
  }
  const second: ContainerInjections = {
    variables: [
      { name: 'A', value: '2' },
      { name: 'B', value: '2' },
    ],
    mounts: [
      { ...mount, hostPath: '/opt/b' },
      { ...mount, containerPath: '/lib64' },
    ],
    devices: [
      { containerPath: '/dev/a', hostPath: '/dev/b0', permissions: 'r' },
      { containerPath: '/dev/b', hostPath: '/dev/b0', permissions: 'r' },
    ],
    annotations: { 'test/a': '2', 'test/b': '2' },
    cdiDevices: ['test/a=0', 'test/b=0'],
  }
  assert.deepEqual(mergeInjections([first, second]), {
    variables: [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ],
    mounts: [mount, { ...mount, containerPath: '/lib64' }],
    devices: [
      { containerPath: '/dev/a', hostPath: '/dev/a0', permissions: 'rw' },
      { containerPath: '/dev/b', hostPath: '/dev/b0', permissions: 'r' },
    ],
    annotations: { 'test/a': '1', 'test/b': '2' },
    cdiDevices: ['test/a=0', 'test/b=0'],
  })
  assert.deepEqual(mergeInjections([]), NO_INJECTIONS)
  assert.deepEqual(findConflicts([first, first]), [])
  assert.deepEqual(findConflicts([first, second]), ['variable A', 'mount /lib', 'device /dev/a', 'annotation test/a'])
})
