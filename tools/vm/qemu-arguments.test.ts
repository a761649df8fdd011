import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeQemuArguments } from './qemu-arguments.ts'
import { vmHardware } from './vm-releases.ts'

const request = {
  accelerator: 'tcg',
  hardware: vmHardware.amd64,
  kernel: '/k',
  initrd: '/i',
  files: { root: '/r.qcow2', payload: '/p.img', data: '/d.img', swap: '/s.img' },
  port: 2222,
  console: '/c',
} as const

describe('computeQemuArguments()', () => {
  const text = computeQemuArguments(request).join(' ')

  test('has two NUMA nodes with half of the CPUs and of the memory each', () => {
    assert.match(text, /-smp 4,sockets=2 -m 3072M/)
    assert.match(text, /node,nodeid=0,cpus=0-1,memdev=memory0 .*node,nodeid=1,cpus=2-3,memdev=memory1/)
  })

  test('has a network that leads nowhere but to a port of loopback', () => {
    assert.match(text, /-netdev user,id=network,restrict=on,hostfwd=tcp:127\.0\.0\.1:2222-:22/)
  })

  test('names each disk, and treats an overlay differently from a plain image', () => {
    assert.match(text, /id=root,file=\/r\.qcow2,format=qcow2/)
    assert.match(text, /id=data,file=\/d\.img,format=raw\S* -device virtio-blk-pci,drive=data,serial=data/)
  })

  test('takes the processor itself with KVM, and one that QEMU emulates well without', () => {
    assert.match(text, /-accel tcg,thread=multi\S* -cpu Nehalem,-cx16/)
    assert.match(computeQemuArguments({ ...request, accelerator: 'kvm' }).join(' '), /-accel kvm -cpu host/)
  })

  test('has the machine, the processor and the console of another architecture', () => {
    const other = computeQemuArguments({ ...request, hardware: vmHardware.arm64 }).join(' ')
    assert.match(other, /-machine virt,gic-version=3 .* -cpu cortex-a72 .* console=ttyAMA0 /)
  })
})
