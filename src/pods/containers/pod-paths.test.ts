import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePodUid } from '../../model/pod/pod.ts'
import { computePodPaths, terminationLogPath } from './pod-paths.ts'

test('computePodPaths() names the places of a pod', () => {
  assert.deepEqual(computePodPaths('/var/lib/kubelet', parsePodUid('u-1')), {
    directory: '/var/lib/kubelet/pods/u-1',
    etcHosts: '/var/lib/kubelet/pods/u-1/etc-hosts',
    containers: '/var/lib/kubelet/pods/u-1/containers',
  })
})

test('terminationLogPath() always ends in eight hex digits', () => {
  const paths = computePodPaths('/r', parsePodUid('u-1'))
  assert.equal(terminationLogPath(paths, 'main', 0x2a), '/r/pods/u-1/containers/main/0000002a')
  assert.equal(terminationLogPath(paths, 'main', 0xffffffff), '/r/pods/u-1/containers/main/ffffffff')
  assert.equal(terminationLogPath(paths, 'main', -1), '/r/pods/u-1/containers/main/ffffffff')
})
