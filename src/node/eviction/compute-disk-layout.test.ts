import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeDiskLayout, computeDiskParts, computeReclaimable } from './compute-disk-layout.ts'
import type { DiskLayout } from './compute-disk-layout.ts'
import type { ObservedSignal } from './observed-signal.ts'

const on = (device: string) => ({ device })

describe('computeDiskLayout()', () => {
  test('compares devices', () => {
    const fs = on('8:1')
    assert.equal(computeDiskLayout({ fs, imageFs: on('8:1'), containerFs: undefined }), 'shared')
    assert.equal(computeDiskLayout({ fs, imageFs: on('8:2'), containerFs: undefined }), 'separate')
    assert.equal(computeDiskLayout({ fs, imageFs: on('8:2'), containerFs: on('8:2') }), 'separate')
    assert.equal(computeDiskLayout({ fs, imageFs: on('8:2'), containerFs: on('8:1') }), 'split')
    assert.equal(computeDiskLayout({ fs, imageFs: undefined, containerFs: undefined }), undefined)
  })
})

describe('what can be given back', () => {
  const rows: readonly [DiskLayout, ObservedSignal, string, string][] = [
    ['shared', 'nodefs.available', 'containers images', 'rootfs logs volumes'],
    ['shared', 'imagefs.inodesFree', 'containers images', 'rootfs logs volumes'],
    ['separate', 'nodefs.available', '', 'logs volumes'],
    ['separate', 'imagefs.available', 'containers images', 'rootfs'],
    ['split', 'nodefs.inodesFree', 'containers', 'rootfs logs volumes'],
    ['split', 'imagefs.available', 'images', ''],
    ['shared', 'memory.available', '', 'rootfs logs volumes'],
    ['separate', 'pid.available', '', 'logs volumes'],
  ]
  for (const [layout, signal, byNode, byPods] of rows)
    test(`${layout}, ${signal}`, () => {
      assert.equal(computeReclaimable(signal, layout).join(' '), byNode)
      assert.equal(computeDiskParts(signal, layout).join(' '), byPods)
    })
})
