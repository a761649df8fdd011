import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Agent, request as httpRequest } from '../../../base/builtin/http.ts'
import { waitForShared } from '../../../base/async/wait-for-shared.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { chooseApiVersion, isVersionRefusal } from './api-version.ts'
import { DockerAwayError, DockerError } from './docker-error.ts'

/** One request to Docker. */
export interface DockerRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Without the version, which comes before it: /containers/json */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

// Node's own limit for headers and more is enough: lists and inspections are the largest answers.
const LARGEST_ANSWER = 64 * 1024 * 1024
const KEPT_CONNECTIONS = 8

/** Docker's HTTP API on a unix socket, in the newest version that both sides know. */
export class DockerApi implements Disposable {
  readonly #socketPath: string
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS })
  readonly #onOutcome: (away: Error | undefined) => void
  #version: Promise<string> | undefined

  /** The second argument is called after each request, with an error where Docker could not be reached. */
  constructor(socketPath: string, onOutcome: (away: Error | undefined) => void = () => {}) {
    this.#socketPath = socketPath
    this.#onOutcome = onOutcome
  }

  /** The version of the API that requests are made in, such as 1.41. Asked again after Docker was away: it may come back as another one. */
  async version(signal: AbortSignal): Promise<string> {
    // Shared by all who wait, so it ends with none of them.
    this.#version ??= this.#ping(new AbortController().signal).catch((error: unknown) => {
      this.#version = undefined
      throw error
    })
    return await waitForShared(this.#version, signal)
  }

  /** A request with an answer in JSON; undefined for an empty one. */
  async json<T>(request: DockerRequest, signal: AbortSignal): Promise<T> {
    const text = await this.#text(request, signal)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** A request whose answer comes piece by piece. A caller that reads it to its end or destroys it gives the connection back. */
  async open(request: DockerRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const version = await this.version(signal)
    const response = await this.#send(request, `/v${version}`, signal)
    if ((response.statusCode ?? 500) < 400) return response
    throw this.#toError(response.statusCode ?? 500, await readAll(response))
  }

  /** A request that turns its connection into a stream of bytes in both directions. What came with the answer is put back into it. */
  async upgrade(request: DockerRequest, signal: AbortSignal): Promise<Duplex> {
    const version = await this.version(signal)
    const headers = { ...request.headers, Connection: 'Upgrade', Upgrade: 'tcp' }
    return await new Promise((resolve, reject) => {
      const sent = this.#request({ ...request, headers }, `/v${version}`, signal)
      sent.once('upgrade', (_response, socket, head) => {
        this.#onOutcome(undefined)
        // The reader or writer of the stream finds out by that.
        socket.on('error', () => {})
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
      sent.once('response', (response) => {
        readAll(response).then((text) => reject(this.#toError(response.statusCode ?? 500, text)), reject)
      })
      sent.once('error', (error) => reject(this.#toAway(error, signal)))
      sent.end(request.body === undefined ? undefined : JSON.stringify(request.body))
    })
  }

  async #text(request: DockerRequest, signal: AbortSignal): Promise<string> {
    const response = await this.open(request, signal)
    try {
      return await readAll(response)
    } catch (error) {
      throw this.#toAway(error, signal)
    }
  }

  async #ping(signal: AbortSignal): Promise<string> {
    const response = await this.#send({ method: 'GET', path: '/_ping' }, '', signal)
    const text = await readAll(response)
    if (response.statusCode !== 200) throw new DockerError(response.statusCode ?? 500, text.trim())
    return chooseApiVersion(String(response.headers['api-version'] ?? ''))
  }

  async #send(request: DockerRequest, prefix: string, signal: AbortSignal): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      const sent = this.#request(request, prefix, signal)
      sent.once('response', (response) => {
        this.#onOutcome(undefined)
        resolve(response)
      })
      sent.once('error', (error) => reject(this.#toAway(error, signal)))
      sent.end(request.body === undefined ? undefined : JSON.stringify(request.body))
    })
  }

  #request({ method, path, query, body, headers }: DockerRequest, prefix: string, signal: AbortSignal) {
    signal.throwIfAborted()
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`
    return httpRequest({
      socketPath: this.#socketPath,
      agent: this.#agent,
      method,
      path: `${prefix}${path}${search}`,
      headers: { Host: 'docker', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      signal,
    })
  }

  #toError(status: number, text: string): DockerError {
    const message = parseMessage(text)
    if (isVersionRefusal(status, message)) this.#version = undefined
    return new DockerError(status, message)
  }

  #toAway(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    this.#version = undefined
    const away = new DockerAwayError(describeAway(error, this.#socketPath), { cause: error })
    this.#onOutcome(away)
    return away
  }

  /** Ends the connections that are kept for the next request. */
  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_ANSWER) throw new DockerError(502, `the answer of Docker is longer than ${LARGEST_ANSWER} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parseMessage(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown }
    return typeof message === 'string' ? message : text
  } catch {
    return text.trim()
  }
}

function describeAway(error: unknown, socketPath: string): string {
  const { code } = error as { readonly code?: unknown }
  if (code === 'ENOENT') return `no Docker at "${socketPath}": there is no such socket`
  if (code === 'ECONNREFUSED') return `Docker does not listen on "${socketPath}"`
  if (code === 'EACCES') return `no permission to use Docker's socket "${socketPath}"`
  return `the connection to Docker broke: ${errorMessage(error)}`
}
