/** The machines that there are to test on. */
export interface VmRelease {
  /** As Debian counts: "13". */
  readonly number: string
  readonly suite: string
}

/** Oldest first. */
export const vmReleases: readonly VmRelease[] = [
  { number: '12', suite: 'bookworm' },
  { number: '13', suite: 'trixie' },
]

/** A kind of machine that QEMU gives, and what it is called elsewhere. */
export interface VmHardware {
  /** As Debian names it. */
  readonly architecture: 'amd64' | 'arm64'
  readonly qemu: string
  /** Debian's package with that program. */
  readonly qemuPackage: string
  /** As process.arch has it. */
  readonly node: 'x64' | 'arm64'
  readonly machine: string
  /** For software emulation. */
  readonly cpu: string
  readonly console: string
  readonly kernelPackage: string
}

/** By Debian's name of the architecture. */
export const vmHardware: Readonly<Record<VmHardware['architecture'], VmHardware>> = {
  amd64: {
    architecture: 'amd64',
    qemu: 'qemu-system-x86_64',
    qemuPackage: 'qemu-system-x86',
    node: 'x64',
    machine: 'q35',
    // QEMU 7.2 spoils the flags after CMPXCHG16B without LOCK, which Linux 6.12 uses where a processor has it.
    cpu: 'Nehalem,-cx16',
    console: 'ttyS0',
    kernelPackage: 'linux-image-cloud-amd64',
  },
  arm64: {
    architecture: 'arm64',
    qemu: 'qemu-system-aarch64',
    qemuPackage: 'qemu-system-arm',
    node: 'arm64',
    machine: 'virt,gic-version=3',
    cpu: 'cortex-a72',
    console: 'ttyAMA0',
    kernelPackage: 'linux-image-cloud-arm64',
  },
}
