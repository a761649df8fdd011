import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'

/** A request as Docker got it. */
export interface DockerCall {
  readonly method: string
  /** Of the API, as the path has it; empty for one without. */
  readonly version: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly headers: IncomingMessage['headers']
}

/** Undefined: as a Docker with an image and no containers. Hang: no answer at all. */
export type DockerAnswer = { readonly status: number; readonly body?: unknown } | 'hang' | undefined

/** The HTTP side of Docker on a socket, with what it was asked; the test answers what it is about. */
export class FakeDocker implements AsyncDisposable {
  readonly socket = join(makeTemporaryFolder(), 'docker.sock')
  readonly calls: DockerCall[] = []
  apiVersion = '1.41'
  /** The oldest version of the API that it takes. */
  oldestApi = '1.12'
  info: Readonly<Record<string, unknown>> = {}
  answer: (call: DockerCall) => DockerAnswer = () => undefined
  /** What a command prints, frame by frame. */
  output: readonly Buffer[] = []
  readonly #server = createServer((request, response) => void this.#handle(request, response))

  static async start(): Promise<FakeDocker> {
    const docker = new FakeDocker()
    docker.#server.on('upgrade', (_request, socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
      for (const frame of docker.output) socket.write(frame)
      socket.end()
    })
    docker.#server.listen(docker.socket)
    await once(docker.#server, 'listening')
    return docker
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** The bodies of all requests with this path. */
  bodies(path: string): readonly unknown[] {
    return this.calls.filter((call) => call.path === path).map(({ body }) => body)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://docker')
    const [, version = '', path = ''] = /^(?:\/v([\d.]+))?(\/.*)$/.exec(url.pathname) ?? []
    const body = request.headers['content-type'] === 'application/json' ? await json(request) : undefined
    const call = {
      method: request.method ?? '',
      version,
      path,
      query: url.searchParams,
      body,
      headers: request.headers,
    }
    this.calls.push(call)
    const answer = this.#refuseOld(version) ?? this.answer(call) ?? this.#usual(call)
    if (answer === 'hang') return
    response.writeHead(answer.status, { 'Api-Version': this.apiVersion, 'Content-Type': 'application/json' })
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body))
  }

  #refuseOld(version: string): Exclude<DockerAnswer, 'hang'> {
    const minor = (text: string) => Number(text.split('.')[1])
    if (version === '' || minor(version) >= minor(this.oldestApi)) return undefined
    const message = `client version ${version} is too old. Minimum supported API version is ${this.oldestApi}, please upgrade your client to a newer version`
    return { status: 400, body: { message } }
  }

  #usual({ method, path, query }: DockerCall): Exclude<DockerAnswer, 'hang' | undefined> {
    if (path === '/_ping') return { status: 200 }
    if (path === '/info')
      return { status: 200, body: { DockerRootDir: '/docker', Runtimes: { runc: {} }, ...this.info } }
    if (path === '/version') return { status: 200, body: { Version: '20.10.24', ApiVersion: this.apiVersion } }
    if (path === '/containers/json') return { status: 200, body: [] }
    const [, image] = /^\/images\/([^/]+)\/json$/.exec(path) ?? []
    if (image !== undefined)
      return { status: 200, body: { Id: `sha256:${'1'.repeat(64)}`, RepoTags: [decodeURIComponent(image)] } }
    if (path === '/containers/create') return { status: 201, body: { Id: `id-of-${query.get('name') ?? ''}` } }
    if (method === 'GET') return { status: 404, body: { message: `No such container: ${path}` } }
    return { status: 204 }
  }
}
