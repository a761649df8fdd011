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

/** The machine that QEMU gives, and what it is called elsewhere. */
export const vmHardware = {
  /** As Debian names it. */
  architecture: 'amd64',
  qemu: 'qemu-system-x86_64',
  /** As process.arch has it. */
  node: 'x64',
  machine: 'q35',
  /** For software emulation. QEMU 7.2 spoils the flags after CMPXCHG16B without LOCK, which Linux 6.12 uses where a processor has it. */
  cpu: 'Nehalem,-cx16',
  console: 'ttyS0',
  kernelPackage: 'linux-image-cloud-amd64',
} as const
