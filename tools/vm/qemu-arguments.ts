import { diskPath, disks, HUGE_PAGES } from './image-files.ts'
import type { VmHardware } from './vm-releases.ts'

/** kvm: by the processor itself; tcg: in software, ten to thirty times slower. */
export type Accelerator = 'kvm' | 'tcg'

/** What QEMU is started with. */
export interface QemuRequest {
  readonly accelerator: Accelerator
  readonly hardware: VmHardware
  readonly kernel: string
  readonly initrd: string
  /** The file of each disk. */
  readonly files: Readonly<Record<keyof typeof disks, string>>
  /** Of this machine's loopback; leads to the ssh of the other. */
  readonly port: number
  /** What the kernel and systemd say goes to this file. */
  readonly console: string
}

const NODES = 2
const CPUS_PER_NODE = 2
const MEBIBYTES_PER_NODE = 1536

/**
 * A machine with two NUMA nodes, four disks and a network that leads nowhere but to us. It runs the kernel that the image has, so no
 * boot loader is needed.
 */
export function computeQemuArguments(request: QemuRequest): readonly string[] {
  const { accelerator, hardware, files, port } = request
  const nodes = Array.from({ length: NODES }, (_, node) => node)
  const acceleration = accelerator === 'kvm' ? 'kvm' : 'tcg,thread=multi,tb-size=1024'
  return [
    ['-nodefaults', '-no-user-config', '-display', 'none'],
    ['-machine', hardware.machine, '-accel', acceleration],
    ['-cpu', accelerator === 'kvm' ? 'host' : hardware.cpu],
    ['-smp', `${NODES * CPUS_PER_NODE},sockets=${NODES}`, '-m', `${NODES * MEBIBYTES_PER_NODE}M`],
    nodes.flatMap((node) => computeNode(node)),
    ['-kernel', request.kernel, '-initrd', request.initrd, '-append', computeKernelArguments(hardware.console)],
    ['-serial', `file:${request.console}`],
    Object.entries(files).flatMap(([name, file]) => computeDisk(name, file)),
    ['-netdev', `user,id=network,restrict=on,hostfwd=tcp:127.0.0.1:${port}-:22`],
    ['-device', 'virtio-net-pci,netdev=network', '-device', 'virtio-rng-pci'],
  ].flat()
}

function computeNode(node: number): readonly string[] {
  const first = node * CPUS_PER_NODE
  return [
    ['-object', `memory-backend-ram,id=memory${node},size=${MEBIBYTES_PER_NODE}M`],
    ['-numa', `node,nodeid=${node},cpus=${first}-${first + CPUS_PER_NODE - 1},memdev=memory${node}`],
  ].flat()
}

function computeDisk(name: string, file: string): readonly string[] {
  const format = file.endsWith('.qcow2') ? 'qcow2' : 'raw'
  return [
    ['-drive', `if=none,id=${name},file=${file},format=${format},discard=unmap`],
    ['-device', `virtio-blk-pci,drive=${name},serial=${name}`],
  ].flat()
}

function computeKernelArguments(console: string): string {
  return [
    `root=${diskPath('root')}`,
    'rw',
    `console=${console}`,
    'psi=1',
    `hugepages=${HUGE_PAGES}`,
    // Slow enough as it is; the machine runs nothing of strangers.
    'mitigations=off',
    // On a busy host an emulated timer comes late, which the kernel takes for a broken one: a panic at boot, or a slow clock for ever.
    'no_timer_check',
    'tsc=reliable',
    // A kernel that breaks ends the machine, and with it the run.
    'panic=-1',
  ].join(' ')
}
