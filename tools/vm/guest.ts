/** Commands on a virtual machine, over one ssh connection that they share. */
import { basename, dirname } from 'node:path'
import { attemptCommand } from './run-command.ts'
import type { CommandOptions, CommandResult } from './run-command.ts'

export interface GuestRequest {
  readonly port: number
  readonly key: string
  /** A socket for the shared connection. */
  readonly control: string
  readonly signal: AbortSignal
}

const CONNECT_SECONDS = 20
const SOON_MS = 30_000

export class Guest {
  readonly #request: GuestRequest

  constructor(request: GuestRequest) {
    this.#request = request
  }

  /** Runs a script of the machine's shell and gives what it printed; fails with what it said. */
  async run(script: string, options: CommandOptions = {}): Promise<string> {
    const { exitCode, stdout, stderr } = await this.attempt(script, options)
    if (exitCode === 0) return stdout.trimEnd()
    throw new Error(`On the machine "${script}" ended with ${exitCode}: ${stderr.trim()} ${stdout.trim()}`.trimEnd())
  }

  async attempt(script: string, options: CommandOptions = {}): Promise<CommandResult> {
    // Else a check that polls would go on until its own limit.
    this.#request.signal.throwIfAborted()
    const argv = ['ssh', ...this.#options(), 'root@127.0.0.1', script]
    return await attemptCommand(argv, { signal: this.#request.signal, ...options })
  }

  /** Polls on the machine itself until the script succeeds. */
  async until(script: string, seconds: number): Promise<void> {
    const loop = `end=$(($(date +%s) + ${seconds})); until { ${script}; } > /tmp/until 2>&1; do [ $(date +%s) -lt $end ] || { cat /tmp/until; exit 1; }; sleep 1; done`
    const { exitCode, stdout } = await this.attempt(loop, { deadlineMs: (seconds + 60) * 1000 })
    if (exitCode !== 0) throw new Error(`After ${seconds} s still not: ${script}\n${stdout.trim()}`)
  }

  async write(path: string, text: string): Promise<void> {
    const folder = dirname(path)
    // Its name until it is whole. The agent leaves such files out; under any other name it would be a pod of its own for a moment.
    const draft = `${folder}/.${basename(path)}`
    await this.run(`mkdir -p '${folder}' && cat > '${draft}' && mv '${draft}' '${path}'`, { stdin: text })
  }

  /** Leads a port of the machine's loopback to the same one of this machine's, until the shared connection ends. */
  async reachBack(port: number): Promise<void> {
    const way = `127.0.0.1:${port}:127.0.0.1:${port}`
    const argv = ['ssh', ...this.#options(), '-O', 'forward', '-R', way, 'root@127.0.0.1']
    const { exitCode, stderr } = await attemptCommand(argv, { deadlineMs: SOON_MS })
    if (exitCode !== 0) throw new Error(`Cannot lead port ${port} of the machine back: ${stderr.trim()}`)
  }

  /** The kernel's id of this boot; undefined while nothing answers. */
  async readBootId(): Promise<string | undefined> {
    const { exitCode, stdout } = await this.attempt('cat /proc/sys/kernel/random/boot_id', { deadlineMs: SOON_MS })
    return exitCode === 0 ? stdout.trim() : undefined
  }

  /** Gives up the shared connection: the machine is gone, or will be. */
  async disconnect(): Promise<void> {
    await attemptCommand(['ssh', ...this.#options(), '-O', 'exit', 'root@127.0.0.1'], { deadlineMs: SOON_MS })
  }

  /** For a user who wants to see for himself. */
  describeLogin(): string {
    const { port, key } = this.#request
    return `ssh -i ${key} -p ${port} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@127.0.0.1`
  }

  #options(): readonly string[] {
    const { port, key, control } = this.#request
    const options = {
      BatchMode: 'yes',
      ConnectTimeout: String(CONNECT_SECONDS),
      ControlMaster: 'auto',
      ControlPath: control,
      ControlPersist: '600',
      IdentitiesOnly: 'yes',
      LogLevel: 'ERROR',
      // A machine that is gone without a word.
      ServerAliveInterval: '15',
      ServerAliveCountMax: '8',
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: '/dev/null',
    }
    const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    return ['-F', '/dev/null', '-p', String(port), '-i', key, ...flags]
  }
}
