import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  adminIdentity,
  nodeIdentity,
  readerIdentity,
  runApiServer,
} from '../../../src/api-server/serving/run-api-server.ts'
import type { ApiServerDeps, ApiServerReady } from '../../../src/api-server/serving/run-api-server.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'

/** What a client shows; certificate and key in PEM form. */
export interface ClientSecrets {
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

export interface SecuredApi extends ApiServerReady {
  readonly folder: string
  readonly admin: ClientSecrets
  readonly node: ClientSecrets
  call(secrets: ClientSecrets, method: string, path: string, body?: object | string): Promise<CallResult>
  stop(): Promise<void>
}

interface CallResult {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** A folder that goes with the test. */
export function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-secured-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The whole API server with its port on loopback, until the test ends. */
export async function startSecuredApi(
  t: TestContext,
  folder = createFolder(t),
  options: SecuredApiOptions = {},
): Promise<SecuredApi> {
  const api = await startApiServer(folder, 0, options)
  t.after(() => api.stop())
  return api
}

interface SecuredApiOptions extends Pick<
  ApiServerDeps,
  'staticPods' | 'hasScheduler' | 'serviceRange' | 'hasServiceAddress'
> {
  /** Whether the node has yet to come, by a bootstrap token; else the API gives it its credential. */
  readonly isNodeNew?: boolean
}

/** The whole API server on loopback, until it is stopped; port 0 takes any that is free. */
export async function startApiServer(
  folder: string,
  port = 0,
  { isNodeNew = false, ...options }: SecuredApiOptions = {},
): Promise<SecuredApi> {
  const controller = new AbortController()
  const readiness = Promise.withResolvers<ApiServerReady>()
  const running = runApiServer(
    {
      folder,
      address: '127.0.0.1',
      port,
      servingNames: () => ['node-1'],
      identities: [
        adminIdentity(join(folder, 'admin.kubeconfig')),
        readerIdentity(join(folder, 'reader.kubeconfig')),
        ...(isNodeNew ? [] : [nodeIdentity(join(folder, 'node.kubeconfig'), 'node-1')]),
      ],
      nodeName: 'node-1',
      version: 'v1.36.4',
      clock: systemClock,
      log: silentLogger,
      newUid: randomUUID,
      random: Math.random,
      onReady: readiness.resolve,
      ...options,
    },
    controller.signal,
  )
  running.catch(readiness.reject)
  const stop = async () => {
    controller.abort(new Error('The test ends'))
    await running.catch(() => {})
  }
  const ready = await readiness.promise
  const call = (...[secrets, method, path, body]: Parameters<SecuredApi['call']>) =>
    callServer(ready, secrets, { method, path, body })
  const secretsOf = (name: string) => readSecrets(join(folder, `${name}.kubeconfig`))
  return { ...ready, folder, admin: secretsOf('admin'), node: isNodeNew ? {} : secretsOf('node'), call, stop }
}

/** The certificate and key in a kubeconfig file. */
function readSecrets(path: string): ClientSecrets {
  const text = readFileSync(path, 'utf8')
  const find = (name: string) =>
    Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '', 'base64').toString('utf8')
  return { cert: find('client-certificate-data'), key: find('client-key-data') }
}

async function callServer(
  { server, authorityPem }: ApiServerReady,
  { token, headers, ...secrets }: ClientSecrets,
  {
    method,
    path,
    body,
  }: { readonly method: string; readonly path: string; readonly body: object | string | undefined },
): Promise<CallResult> {
  const sent = request(`${server}${path}`, {
    method,
    ca: authorityPem,
    ...secrets,
    agent: false,
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  })
  sent.end(typeof body === 'object' ? JSON.stringify(body) : body)
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString('utf8')
  return { status: response.statusCode ?? 0, body: parse(text) }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return { text }
  }
}
