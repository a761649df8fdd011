import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createPod } from '../../../test/builders/create-pod.ts'
import {
  namedCgroupPath,
  podCgroupPath,
  podCgroupPaths,
  podUidOfCgroup,
  qosCgroupPaths,
  rootCgroupPath,
} from './cgroup-names.ts'
import type { CgroupLayout } from './cgroup-names.ts'
import { parsePodUid } from '../pod/pod.ts'

const uid = '0a1b-2c'
const podOf = (qosClass: string) => createPod({ metadata: { uid }, status: { qosClass } })

const rows: readonly (readonly [CgroupLayout['driver'], qosClass: string, path: string])[] = [
  ['cgroupfs', 'Guaranteed', '/kubepods/pod0a1b-2c'],
  ['cgroupfs', 'Burstable', '/kubepods/burstable/pod0a1b-2c'],
  ['cgroupfs', 'BestEffort', '/kubepods/besteffort/pod0a1b-2c'],
  ['systemd', 'Guaranteed', '/kubepods.slice/kubepods-pod0a1b_2c.slice'],
  ['systemd', 'Burstable', '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b_2c.slice'],
  ['systemd', 'BestEffort', '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0a1b_2c.slice'],
]

describe('podCgroupPath()', () => {
  for (const [driver, qosClass, path] of rows) {
    test(`${driver}, ${qosClass}`, () => {
      assert.equal(podCgroupPath(podOf(qosClass), { driver, root: '/', perQos: true }), path)
    })
  }

  test('the configured root comes first', () => {
    const pod = podOf('Guaranteed')
    assert.equal(
      podCgroupPath(pod, { driver: 'cgroupfs', root: '/test-a/b', perQos: true }),
      '/test-a/b/kubepods/pod0a1b-2c',
    )
    assert.equal(
      podCgroupPath(pod, { driver: 'systemd', root: '/test-a/b', perQos: true }),
      '/test_a.slice/test_a-b.slice/test_a-b-kubepods.slice/test_a-b-kubepods-pod0a1b_2c.slice',
    )
  })

  test('without a tree of pods it is the root itself', () => {
    assert.equal(podCgroupPath(podOf('Burstable'), { driver: 'cgroupfs', root: '/', perQos: false }), '/')
    assert.equal(podCgroupPath(podOf('Burstable'), { driver: 'systemd', root: '/a', perQos: false }), '/a.slice')
  })

  test('is an absolute path of plain parts, whatever the root', () => {
    const part = fc.stringMatching(/^[a-z0-9-]{1,8}$/)
    const driver = fc.constantFrom('cgroupfs' as const, 'systemd' as const)
    fc.assert(
      fc.property(fc.array(part), driver, fc.constantFrom('', '/'), (parts, chosen, end) => {
        const layout = { driver: chosen, root: `/${parts.join('/')}${end}`, perQos: true }
        assert.match(podCgroupPath(podOf('Burstable'), layout), /^(\/[a-z0-9_.-]+)+$/)
      }),
    )
  })
})

describe('podUidOfCgroup()', () => {
  test('finds the UID again in the name of every cgroup that a pod can have', () => {
    for (const driver of ['cgroupfs', 'systemd'] as const) {
      const layout = { driver, root: '/', perQos: true }
      const paths = podCgroupPaths(parsePodUid(uid), layout)
      assert.deepEqual(
        paths.map((path) => podUidOfCgroup(path.slice(path.lastIndexOf('/') + 1))),
        [uid, uid, uid],
      )
      assert.deepEqual(
        paths.map((path) => path.slice(0, path.lastIndexOf('/'))),
        qosCgroupPaths(layout),
      )
    }
  })

  test('knows no pod for other names', () => {
    assert.deepEqual(
      ['burstable', 'kubepods-burstable.slice', 'pod', 'system.slice'].map(podUidOfCgroup),
      Array.from({ length: 4 }, () => undefined),
    )
  })
})

describe('namedCgroupPath()', () => {
  const rows: readonly (readonly [CgroupLayout['driver'], name: string, path: string])[] = [
    ['cgroupfs', '/system/daemons', '/system/daemons'],
    ['cgroupfs', 'system', '/system'],
    ['systemd', '/system.slice', '/system.slice'],
    ['systemd', 'system-daemons.slice', '/system.slice/system-daemons.slice'],
    ['systemd', '/system.slice/system-daemons.slice', '/system.slice/system-daemons.slice'],
  ]
  for (const [driver, name, path] of rows) {
    test(`${driver}, ${name}`, () => assert.equal(namedCgroupPath(name, { driver, root: '/a', perQos: true }), path))
  }
})

test('rootCgroupPath() is in the spelling of the driver', () => {
  const layout = { root: '/test-a/b', perQos: true }
  assert.equal(rootCgroupPath({ ...layout, driver: 'cgroupfs' }), '/test-a/b')
  assert.equal(rootCgroupPath({ ...layout, driver: 'systemd' }), '/test_a.slice/test_a-b.slice')
})
