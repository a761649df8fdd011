import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { RequestOptions } from 'node:https'
import { connect } from 'node:tls'
import type { LabNetwork, LabResponse } from '../lab/lab-network.ts'

const HOST = '127.0.0.1'
const PORT = 6443

/** Reads from the API inside a lab: what is asked again and again until it is so would cost a process of kubectl each time. */
export class ApiReader implements Disposable {
  readonly #agent = new Agent({ keepAlive: true })

  /** As the user of a kubeconfig file that the node writes. */
  constructor(network: LabNetwork, kubeconfig: string) {
    this.#agent.createConnection = () => {
      const text = readFileSync(kubeconfig, 'utf8')
      const decode = (name: string) => Buffer.from(new RegExp(`${name}-data: (\\S+)`).exec(text)?.[1] ?? '', 'base64')
      const [ca, cert, key] = [decode('certificate-authority'), decode('client-certificate'), decode('client-key')]
      return connect({ socket: network.connect(HOST, PORT), host: HOST, ca, cert, key })
    }
  }

  /** What the API answers to a GET; undefined when there is no such thing. */
  async get<T>(path: string): Promise<T | undefined> {
    const { status, body } = await this.#ask({ host: HOST, port: PORT, path, agent: this.#agent })
    if (status === 404) return undefined
    if (status !== 200) throw new Error(`Cannot read ${path}: status ${status}, expected 200: ${body}`)
    return JSON.parse(body) as T
  }

  #ask(options: RequestOptions): Promise<LabResponse> {
    return new Promise((resolve, reject) => {
      const call = request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
        })
      })
      // A kept connection may have ended with an API that is not there any more: the next one is new.
      call.on('error', (error) => (call.reusedSocket ? resolve(this.#ask(options)) : reject(error)))
      call.end()
    })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
