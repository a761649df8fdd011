import { readFile } from 'node:fs/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../../src/system/processes/run-process.ts'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { startContainerd } from '../../../src/standalone/node/runtime/containerd.ts'
import type { PrivateContainerd } from '../../../src/standalone/node/runtime/containerd.ts'
import { ctrCommand } from '../../../src/standalone/images/import-images.ts'
import { childPid } from './lab-namespaces.ts'
import type { LabRuntime } from './start-lab.ts'

/** A running task of containerd; a container that exited and was not removed has one too. */
export interface LabTask {
  readonly id: string
  /** As the lab counts. */
  readonly pid: number
  /** RUNNING, STOPPED, … */
  readonly status: string
}

/** The lab's containerd, to be asked and to be broken. */
export class LabContainerd implements LabRuntime {
  readonly name = 'containerd'
  readonly #containerd: PrivateContainerd
  #process: StartedProcess

  constructor(containerd: PrivateContainerd, process: StartedProcess) {
    this.#containerd = containerd
    this.#process = process
  }

  get socket(): string {
    return this.#containerd.paths.socket
  }

  get containerdSocket(): string {
    return this.socket
  }

  /** As containerRuntimeEndpoint wants it. */
  get endpoint(): string {
    return `unix://${this.socket}`
  }

  /** Where hosts.toml files for registries go: <folder>/<host:port>/hosts.toml. */
  get registries(): string {
    return this.#containerd.paths.registries
  }

  async log(): Promise<string> {
    return await readFile(this.#containerd.paths.log, 'utf8')
  }

  /** The pid as we see it. */
  async pid(): Promise<number> {
    const pid = await childPid(this.#process.pid)
    if (pid === undefined) throw new Error('Cannot find containerd: it does not run')
    return pid
  }

  /** Where it keeps images. */
  get root(): string {
    return this.#containerd.paths.root
  }

  /** SIGKILL; containers go on under their shims. */
  async kill9(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Lets it write all that it has to. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.pid(), signal)
    await this.#process.exited
  }

  /** Starts it again after kill9(). */
  async start(): Promise<void> {
    this.#process = await startContainerd(systemClock, this.#containerd, new AbortController().signal)
  }

  async restart(): Promise<void> {
    await this.kill9()
    await this.start()
  }

  /** Runs containerd's own client in the namespace of the CRI plugin and gives what it printed. */
  async ctr(...args: readonly string[]): Promise<string> {
    const request = { argv: ctrCommand(this.#containerd, ...args), deadlineMs: 30_000 }
    return (await runProcessOrThrow(systemClock, request, new AbortController().signal)).stdout
  }

  async tasks(): Promise<readonly LabTask[]> {
    const [, ...lines] = (await this.ctr('tasks', 'ls')).trim().split('\n')
    return lines.map((line) => {
      const [id = '', pid = '', status = ''] = line.split(/\s+/)
      return { id, pid: Number(pid), status }
    })
  }
}
