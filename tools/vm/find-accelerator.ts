import { accessSync, constants, existsSync, readFileSync, rmSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Accelerator } from './qemu-arguments.ts'
import type { VmImage } from './vm-image.ts'

interface ProbeRequest {
  readonly image: VmImage
  readonly folder: string
  readonly signal: AbortSignal
  readonly say: (text: string) => void
}

const PROBE_MS = 20_000
const DEVICE = '/dev/kvm'

/**
 * KVM where a kernel really boots with it: some machines have the device for guests of one kind only. Another processor's machine is always emulated.
 */
export async function findAccelerator(request: ProbeRequest): Promise<Accelerator> {
  if (process.arch !== request.image.hardware.node || !isUsable(DEVICE)) return 'tcg'
  request.say(`trying KVM (at most ${PROBE_MS / 1000} s)\n`)
  return (await boots(request)) ? 'kvm' : 'tcg'
}

/** Does the kernel come to the point where it wants its disk? */
async function boots({ image, folder, signal }: ProbeRequest): Promise<boolean> {
  const { qemu, machine, console } = image.hardware
  const file = join(folder, 'probe.log')
  const argv = [
    ['--pdeathsig', 'KILL', qemu, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ['-machine', machine, '-accel', 'kvm', '-cpu', 'host', '-m', '512M', '-serial', `file:${file}`],
    ['-kernel', image.kernel, '-initrd', image.initrd, '-append', `console=${console} panic=-1`],
  ].flat()
  const child = spawn('setpriv', argv, { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const end = Date.now() + PROBE_MS
  try {
    while (Date.now() < end && child.exitCode === null && child.signalCode === null) {
      if (existsSync(file) && readFileSync(file, 'utf8').includes('Run /init as init process')) return true
      await sleep(200, undefined, { signal })
    }
    return false
  } finally {
    child.kill('SIGKILL')
    await ended
    rmSync(file, { force: true })
  }
}

function isUsable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}
