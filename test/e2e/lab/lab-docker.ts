import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { loadIntoDocker } from '../../../src/standalone/images/load-into-docker.ts'
import { startProcess } from '../../../src/system/processes/start-process.ts'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import type { LabTask } from './lab-containerd.ts'
import { childPid } from './lab-namespaces.ts'
import { SECOND_HANDLER } from './second-handler.ts'
import type { LabRuntime } from './start-lab.ts'

const START_MS = 60_000
const GONE_MS = 20_000

/** A dockerd with its containerd in the namespaces of a lab; all that it has is below one folder. */
export class LabDocker implements LabRuntime {
  readonly name = 'docker'
  /** What runs containers from the next start on: a path. */
  ociRuntime: string | undefined
  readonly #folder: string
  readonly #enter: readonly string[]
  #process: StartedProcess | undefined

  constructor(folder: string, enter: readonly string[]) {
    this.#folder = folder
    this.#enter = enter
  }

  get socket(): string {
    return `${this.#folder}/docker.sock`
  }

  get containerdSocket(): string {
    return `${this.#folder}/exec/containerd/containerd.sock`
  }

  /** As containerRuntimeEndpoint wants it. */
  get endpoint(): string {
    return `unix://${this.socket}`
  }

  async log(): Promise<string> {
    return await readFile(`${this.#folder}/dockerd.log`, 'utf8')
  }

  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    // Without it dockerd would read that of the machine.
    const runtimes = { [SECOND_HANDLER]: { path: 'runc' } }
    const config =
      this.ociRuntime === undefined
        ? { runtimes }
        : { runtimes: { ...runtimes, own: { path: this.ociRuntime } }, 'default-runtime': 'own' }
    await writeFile(`${this.#folder}/daemon.json`, JSON.stringify(config))
    const options = {
      host: this.endpoint,
      'data-root': `${this.#folder}/root`,
      'exec-root': `${this.#folder}/exec`,
      pidfile: `${this.#folder}/docker.pid`,
      'config-file': `${this.#folder}/daemon.json`,
      bip: '10.88.0.1/16',
      'exec-opt': 'native.cgroupdriver=cgroupfs',
    }
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    const argv = [...this.#enter, 'dockerd', ...flags, '--live-restore']
    // Its containerd writes there what it was at when it is ended.
    const environment = { ...process.env, TMPDIR: this.#folder }
    this.#process = await startProcess({ argv, environment, logFile: `${this.#folder}/dockerd.log` })
    await this.#waitForAnswer(this.#process)
  }

  async #waitForAnswer(started: StartedProcess): Promise<void> {
    let ended = false
    void started.exited.then(() => (ended = true))
    const end = performance.now() + START_MS
    while ((await this.ask('GET', '/_ping').catch(() => 0)) !== 200) {
      if (ended || performance.now() > end) throw new Error(`Cannot start dockerd: ${(await this.log()).slice(-3000)}`)
      await sleep(20)
    }
  }

  /** The pid as we see it. */
  async pid(): Promise<number> {
    const pid = this.#process && (await childPid(this.#process.pid))
    if (pid === undefined) throw new Error('Cannot find dockerd: it does not run')
    return pid
  }

  /** SIGKILL; its containerd dies with it, and containers go on under their shims. */
  async kill9(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Lets it write all that it has to. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.pid(), signal)
    await Promise.race([this.#process?.exited, sleep(GONE_MS)])
  }

  /** As a dockerd without --live-restore does at its end: it stops all containers. */
  async stopAll(): Promise<void> {
    const ids = await this.#list()
    await Promise.all(ids.map(({ Id: id }) => this.ask('POST', `/containers/${id}/stop?t=0`)))
    await this.#end('SIGKILL')
  }

  /** Adds the images of an archive. */
  async load(file: string): Promise<void> {
    const response = await this.#send('POST', '/images/load?quiet=1', await readFile(file))
    if (response.statusCode !== 200) throw new Error(`Cannot load "${file}": ${await text(response)}`)
    await text(response)
  }

  async tasks(): Promise<readonly LabTask[]> {
    return await Promise.all(
      (await this.#list()).map(async ({ Id: id }) => {
        const { State: state } = JSON.parse(await text(await this.#send('GET', `/containers/${id}/json`))) as {
          State: { Pid: number }
        }
        return { id, pid: state.Pid, status: 'RUNNING' }
      }),
    )
  }

  /** The names of all containers. */
  async names(): Promise<readonly string[]> {
    return (await this.#list(true)).flatMap(({ Names: names }) => names.map((name) => name.slice(1)))
  }

  async #list(all = false): Promise<readonly { readonly Id: string; readonly Names: readonly string[] }[]> {
    const response = await this.#send('GET', `/containers/json${all ? '?all=1' : ''}`)
    return JSON.parse(await text(response)) as { Id: string; Names: string[] }[]
  }

  async restart(): Promise<void> {
    await this.kill9()
    await this.start()
  }

  /** Gives it the node's own images. */
  async loadImages(): Promise<void> {
    await loadIntoDocker(systemClock, this.socket, new AbortController().signal)
  }

  /** The status of an answer of Docker. */
  async ask(method: string, path: string): Promise<number> {
    const response = await this.#send(method, path)
    await text(response)
    return response.statusCode ?? 0
  }

  async #send(method: string, path: string, body?: Uint8Array): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'Content-Type': 'application/x-tar' }
      const sent = request({ socketPath: this.socket, method, path, headers, agent: false }, resolve)
      sent.once('error', reject)
      sent.end(body)
    })
  }
}
