import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import type { Lab } from '../e2e/lab/start-lab.ts'

/** The API of a node in a lab, as its administrator. */
export interface AdminApi {
  send<T>(method: string, path: string, body?: object): Promise<T>
  /** Follows a list until it is disposed of; check() throws when it broke off before. */
  watch(path: string, onEvent: (type: string, object: unknown) => void): Disposable & { check(): void }
  close(): void
}

export async function openAdminApi(lab: Lab, kubeconfig: string): Promise<AdminApi> {
  const text = await readFile(kubeconfig, 'utf8')
  let session = await connectTo(lab, text)
  return {
    async send(method, path, body) {
      // The API closes those that are idle.
      if (session.destroyed || session.closed) session = await connectTo(lab, text)
      return await send(session, { method, path, body })
    },
    watch: (path, onEvent) => watch(session, path, onEvent),
    close: () => session.destroy(),
  }
}

async function connectTo(lab: Lab, kubeconfig: string): Promise<ClientHttp2Session> {
  const find = (name: string) => new RegExp(`${name}: (\\S+)`).exec(kubeconfig)?.[1] ?? ''
  const decode = (name: string) => Buffer.from(find(name), 'base64').toString('utf8')
  const server = new URL(find('server'))
  const secure = connectTls({
    socket: lab.network.connect(server.hostname, Number(server.port)),
    ca: decode('certificate-authority-data'),
    cert: decode('client-certificate-data'),
    key: decode('client-key-data'),
    servername: 'localhost',
    ALPNProtocols: ['h2'],
  })
  await once(secure, 'secureConnect')
  const session = connect(server.origin, { createConnection: () => secure })
  session.on('error', () => {})
  return session
}

async function send<T>(
  session: ClientHttp2Session,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: object | undefined },
): Promise<T> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const stream = session.request({ ':method': method, ':path': path, 'content-type': type })
  stream.end(body === undefined ? undefined : JSON.stringify(body))
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  const text = Buffer.concat(await stream.toArray()).toString('utf8')
  if (Number(headers[':status']) >= 300) throw new Error(`Cannot ${method} "${path}": ${text}`)
  return JSON.parse(text) as T
}

function watch(
  session: ClientHttp2Session,
  path: string,
  onEvent: (type: string, object: unknown) => void,
): Disposable & { check(): void } {
  const stream = session.request({ ':method': 'GET', ':path': path })
  stream.setEncoding('utf8')
  stream.on('error', () => {})
  let rest = ''
  let hasEnded = false
  stream.on('end', () => (hasEnded = true))
  stream.on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as { type: string; object: unknown }
      onEvent(type, object)
    }
  })
  return {
    check() {
      if (hasEnded) throw new Error(`Cannot follow "${path}": it ended before its time`)
    },
    [Symbol.dispose]: () => stream.close(),
  }
}
