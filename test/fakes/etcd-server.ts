import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const START_MS = 30_000

export interface EtcdServerOptions {
  readonly folder: string
  /** Arguments of etcd besides folder and addresses. */
  readonly args?: readonly string[]
  readonly scheme?: 'http' | 'https'
}

/** A real etcd on loopback, to be written to, killed and started again. Writes go through its JSON gateway. */
export class EtcdServer implements AsyncDisposable {
  readonly url: string
  readonly #options: EtcdServerOptions
  readonly #peer: string
  #process: ChildProcess | undefined
  #token: string | undefined

  private constructor(options: EtcdServerOptions, ports: readonly [number, number]) {
    this.#options = options
    this.url = `${options.scheme ?? 'http'}://127.0.0.1:${ports[0]}`
    this.#peer = `http://127.0.0.1:${ports[1]}`
  }

  static async start(options: EtcdServerOptions): Promise<EtcdServer> {
    const server = new EtcdServer(options, [await freePort(), await freePort()])
    await server.start()
    return server
  }

  /** Starts it again after kill(), with what it has on its disk. */
  async start(): Promise<void> {
    const { folder, args = [] } = this.#options
    const own = ['--data-dir', folder, '--listen-client-urls', this.url, '--advertise-client-urls', this.url]
    const peers = ['--listen-peer-urls', this.#peer, '--initial-advertise-peer-urls', this.#peer]
    const cluster = ['--initial-cluster', `default=${this.#peer}`, '--log-level', 'error']
    this.#process = spawn('etcd', [...own, ...peers, ...cluster, ...args], { stdio: 'ignore' })
    const end = performance.now() + START_MS
    while (!(await this.#answers())) {
      if (performance.now() > end || this.#process.exitCode !== null) throw new Error('Cannot start etcd')
      await sleep(50)
    }
  }

  async #answers(): Promise<boolean> {
    // With TLS the gateway wants a certificate of the client: who starts it so waits in another way.
    if (this.#options.scheme === 'https') return await sleep(2000, true)
    return await this.call('maintenance/status', {}).then(
      () => true,
      () => false,
    )
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  /** A call of the JSON gateway, such as "kv/put". */
  async call(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const headers = this.#token === undefined ? {} : { Authorization: this.#token }
    const response = await fetch(`${this.url}/v3/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`Cannot call ${path}: ${text}`)
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  }

  /** All later calls are this user's. */
  async login(name: string, password: string): Promise<void> {
    this.#token = String((await this.call('auth/authenticate', { name, password }))['token'])
  }

  async put(key: string, value: unknown): Promise<bigint> {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return revisionOf(await this.call('kv/put', { key: base64(key), value: base64(text) }))
  }

  async remove(key: string): Promise<bigint> {
    return revisionOf(await this.call('kv/deleterange', { key: base64(key) }))
  }

  /** Forgets what was before a revision. */
  async compact(revision: bigint): Promise<void> {
    await this.call('kv/compaction', { revision: String(revision), physical: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function revisionOf({ header }: Readonly<Record<string, unknown>>): bigint {
  return BigInt((header as { readonly revision: string }).revision)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
