/** A machine under QEMU: its process, its disks, and the way in by ssh. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Guest } from './guest.ts'
import { computeQemuArguments } from './qemu-arguments.ts'
import type { Accelerator } from './qemu-arguments.ts'
import { runCommand } from './run-command.ts'
import type { VmImage } from './vm-image.ts'

export interface MachineRequest {
  readonly image: VmImage
  readonly accelerator: Accelerator
  /** The disk with the programs to test; written to. */
  readonly payload: string
  /** For everything that this machine writes; removed by the caller. */
  readonly folder: string
  readonly signal: AbortSignal
}

const DATA_BYTES = 3 * 1024 ** 3
const SWAP_BYTES = 512 * 1024 ** 2
// Software emulation on a machine that is busy with other things.
const BOOT_MS = 900_000
const POWER_OFF_MS = 600_000
const PANIC = 'Kernel panic'
// The kernel patches its own code while it boots, and an emulated CPU may run what another one is just writing. It restarts by itself then.
const MOST_EMULATED_PANICS = 2

/** One machine, from its first boot on; its disks outlive its process. */
export class VirtualMachine {
  readonly guest: Guest
  readonly #request: MachineRequest
  readonly #port: number
  #process: ChildProcess | undefined

  private constructor(request: MachineRequest, port: number) {
    this.#request = request
    this.#port = port
    const { folder, image, signal } = request
    this.guest = new Guest({ port, key: image.key, control: join(folder, 'ssh'), signal })
  }

  /** Makes its disks: the root over the image, the others empty. */
  static async create(request: MachineRequest): Promise<VirtualMachine> {
    const { folder, image, signal } = request
    const overlay = ['qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', image.disk]
    await runCommand([...overlay, join(folder, 'root.qcow2')], { signal })
    for (const [name, size] of Object.entries({ data: DATA_BYTES, swap: SWAP_BYTES })) {
      writeFileSync(join(folder, `${name}.img`), '')
      truncateSync(join(folder, `${name}.img`), size)
    }
    return new VirtualMachine(request, await findPort())
  }

  get #console(): string {
    return join(this.#request.folder, 'console.log')
  }

  get accelerator(): Accelerator {
    return this.#request.accelerator
  }

  /** Powers it on and waits until it has booted. */
  async start(): Promise<void> {
    this.powerOn()
    await this.waitForBoot()
  }

  powerOn(): void {
    const { accelerator, image, folder, payload } = this.#request
    rmSync(this.#console, { force: true })
    const argv = computeQemuArguments({
      accelerator,
      hardware: image.hardware,
      kernel: image.kernel,
      initrd: image.initrd,
      files: {
        root: join(folder, 'root.qcow2'),
        payload,
        data: join(folder, 'data.img'),
        swap: join(folder, 'swap.img'),
      },
      port: this.#port,
      console: this.#console,
    })
    // It ends with us, however we end.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', image.hardware.qemu, ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => writeFileSync(this.#console, text, { flag: 'a' }))
    child.on('error', (error) => writeFileSync(this.#console, `${error.message}\n`, { flag: 'a' }))
    this.#process = child
  }

  get isRunning(): boolean {
    const child = this.#process
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Until its ssh lets us in and systemd has started what it starts at boot. */
  async waitForBoot(afterBoot?: string): Promise<void> {
    const end = Date.now() + BOOT_MS
    for (;;) {
      if (!this.isRunning) throw new Error(`The machine ended while it booted:\n${this.lastOutput()}`)
      if (this.#hasBroken()) throw new Error(`The kernel of the machine broke:\n${this.#panicOutput()}`)
      const bootId = await this.guest.readBootId()
      if (bootId !== undefined && bootId !== afterBoot) break
      if (Date.now() > end) throw new Error(`The machine did not boot in ${BOOT_MS / 1000} s:\n${this.lastOutput()}`)
      await sleep(1000, undefined, { signal: this.#request.signal })
    }
    // "degraded" too: which units failed is for a check to say.
    await this.guest.attempt('systemctl is-system-running --wait', { deadlineMs: BOOT_MS })
  }

  #hasBroken(): boolean {
    const panics = this.output().split(PANIC).length - 1
    return panics > (this.accelerator === 'tcg' ? MOST_EMULATED_PANICS : 0)
  }

  /** As if its plug were pulled. What it had written to its disks is there. */
  async cutPower(): Promise<void> {
    await this.guest.disconnect()
    if (!this.isRunning) return
    const ended = new Promise((resolve) => this.#process?.once('exit', resolve))
    this.#process?.kill('SIGKILL')
    await ended
  }

  /** Until it has switched itself off. */
  async waitForPowerOff(): Promise<void> {
    const end = Date.now() + POWER_OFF_MS
    while (this.isRunning) {
      if (Date.now() > end)
        throw new Error(`The machine is still on after ${POWER_OFF_MS / 1000} s:\n${this.lastOutput()}`)
      await sleep(200, undefined, { signal: this.#request.signal })
    }
    await this.guest.disconnect()
  }

  /** What kernel and systemd have said since it was switched on. */
  output(): string {
    return existsSync(this.#console) ? readFileSync(this.#console, 'utf8') : ''
  }

  /** What came before and after the panic; the machine boots again by itself. */
  #panicOutput(): string {
    const lines = this.output().split('\n')
    const at = lines.findIndex((line) => line.includes(PANIC))
    return lines.slice(Math.max(at - 20, 0), at + 20).join('\n')
  }

  lastOutput(): string {
    return this.output().split('\n').slice(-40).join('\n')
  }
}

async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('Cannot find a free port')
  return address.port
}
