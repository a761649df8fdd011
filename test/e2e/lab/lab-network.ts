import { Agent, request } from 'node:http'
import type { ClientRequestArgs } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** An answer of an HTTP server inside the lab. */
export interface LabResponse {
  readonly status: number
  readonly body: string
}

/** Connections into the lab's network from outside of it. */
export class LabNetwork implements Disposable {
  readonly #socket: string
  readonly #agent: Agent

  constructor(forwarderSocket: string) {
    this.#socket = forwarderSocket
    this.#agent = new LabHttpAgent(this)
  }

  /** A TCP connection to a host and port as the lab sees them. */
  connect(host: string, port: number): Socket {
    const socket = connect(this.#socket)
    socket.write(`${host}:${port}\n`)
    return socket
  }

  /** GET over plain HTTP on a kept connection; rejects when no server listens. */
  get(url: string, signal?: AbortSignal): Promise<LabResponse> {
    return new Promise((resolve, reject) => {
      const call = request(url, { agent: this.#agent, ...(signal === undefined ? {} : { signal }) }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
        })
      })
      call.on('error', reject)
      call.end()
    })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}

class LabHttpAgent extends Agent {
  readonly #network: LabNetwork

  constructor(network: LabNetwork) {
    super({ keepAlive: true, maxSockets: 16 })
    this.#network = network
  }

  override createConnection(options: ClientRequestArgs): Socket {
    return this.#network.connect(options.host ?? '127.0.0.1', Number(options.port ?? 80))
  }
}
