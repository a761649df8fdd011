import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import type { RequestOptions } from 'node:https'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { countAccess } from '../../fakes/counted-access.ts'
import { createAccess } from '../../../src/serving/access/create-access.ts'
import type { Settings } from '../../../src/model/config/load-configuration.ts'
import type { KubeClient, KubeRequest } from '../../../src/protocols/kube-api/kube-client.ts'
import { loadFields } from '../../fakes/load-settings.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import type { AuditEntry } from '../../../src/serving/http/audit.ts'
import type { Caller, Route } from '../../../src/serving/http/route.ts'
import { runKubeletServer } from '../../../src/serving/http/run-kubelet-server.ts'
import type { KubeletServerDeps, ServingCertificate } from '../../../src/serving/http/run-kubelet-server.ts'
import type { RequestLabels } from '../../../src/metrics/serving-metrics.ts'
import { SERVER_AUTH, createTestCertificate } from '../../builders/create-test-authority.ts'
import type { TestCertificate } from '../../builders/create-test-authority.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'

export interface ServerUnderTest {
  readonly port: number
  readonly authority: TestCertificate
  readonly audits: AuditEntry[]
  readonly requests: RequestLabels[]
  readonly inFlight: () => number
  serveWith(certificate: ServingCertificate | undefined): void
  trust(pem: string): Promise<void>
  ask(path: string, options?: Partial<RequestOptions> & { body?: string }): Promise<Reply>
  readonly running: Promise<void>
  readonly stop: () => void
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

export interface ServerOptions {
  readonly routes: readonly Route[]
  /** Whether a caller may do something; by default every caller may do everything. */
  readonly isAllowed?: (caller: Caller, question: { verb: string; subresource: string }) => boolean
  readonly anonymous?: boolean
  /** Whose token it is; without, no token is looked at. */
  readonly tokenUser?: (token: string) => string | undefined
  readonly tls?: Partial<KubeletServerDeps['tls']>
  readonly withoutCertificate?: boolean
  readonly readsUid?: boolean
  readonly limits?: KubeletServerDeps['limits']
  readonly deadlines?: KubeletServerDeps['deadlines']
}

/** The kubelet's server on a free port, with real TLS and certificates made for the test. */
export async function startKubeletServer(t: TestContext, options: ServerOptions): Promise<ServerUnderTest> {
  const authority = await createTestCertificate({ subject: [{ CN: ['ca'] }], isAuthority: true })
  let serving: ServingCertificate | undefined = options.withoutCertificate
    ? undefined
    : await createTestCertificate({ subject: [{ CN: ['node'] }], issuer: authority, usages: [SERVER_AUTH] })
  const clientCAFile = join(makeTemporaryFolder(), 'ca.pem')
  writeFileSync(clientCAFile, authority.certificatePem)
  const listeners = new Set<() => void>()
  const wakeups = new Set<() => void>()
  // Reads the file of the authorities again when the test asks for it.
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal: AbortSignal) =>
      ms === 30_000
        ? new Promise<void>((resolve, reject) => {
            wakeups.add(resolve)
            signal.addEventListener('abort', () => reject(signal.reason as Error))
          })
        : systemClock.sleep(ms, signal),
  }
  const stop = new AbortController()
  const { checkAccess, authorities, follow } = await createAccess(
    {
      settings: await loadAccess(options, clientCAFile),
      client: createReviewer(options),
      metrics: countAccess().metrics,
      clock,
      random: () => 0,
      log: silentLogger,
    },
    stop.signal,
  )
  assert.ok(authorities !== undefined && follow !== undefined)
  const audits: AuditEntry[] = []
  const requests: RequestLabels[] = []
  let ended = 0
  const listening = Promise.withResolvers<number>()
  const running = runKubeletServer(
    {
      address: '127.0.0.1',
      port: 0,
      routes: options.routes,
      checkAccess,
      certificates: {
        current: () => serving,
        onChange: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      clientCa: authorities,
      limits: options.limits ?? { all: 400, replaceable: 100 },
      deadlines: options.deadlines,
      tls: { minVersion: 'TLSv1.2', ...options.tls },
      audit: (entry) => audits.push(entry),
      metrics: { requestStarted: (labels) => requests.push(labels), requestEnded: () => (ended += 1) },
      clock,
      log: silentLogger,
      onListening: listening.resolve,
    },
    stop.signal,
  )
  running.catch(listening.reject)
  const following = follow(stop.signal).catch(() => {})
  const leave = () => stop.abort(new Error('done'))
  t.after(async () => {
    leave()
    await running
    await following
  })
  const port = await listening.promise
  return {
    port,
    authority,
    audits,
    requests,
    inFlight: () => requests.length - ended,
    running,
    stop: leave,
    serveWith(certificate) {
      serving = certificate
      for (const report of listeners) report()
    },
    async trust(pem) {
      writeFileSync(clientCAFile, pem)
      const changed = new Promise<void>((resolve) => authorities.onChange(resolve))
      for (const ring of wakeups) ring()
      await changed
    },
    ask: (path, more = {}) => ask({ port, ca: authority.certificatePem, path, ...more }, more.body),
  }
}

/** Who may use the server, as the configuration file of an agent says it. */
async function loadAccess(
  { anonymous = false, tokenUser, readsUid = true }: ServerOptions,
  clientCAFile: string,
): Promise<Settings> {
  return await loadFields({
    authentication: {
      x509: { clientCAFile },
      anonymous: { enabled: anonymous },
      webhook: { enabled: tokenUser !== undefined },
    },
    // Each request is judged, so that a test sees it.
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '1ns', cacheUnauthorizedTTL: '1ns' } },
    featureGates: { AllowParsingUserUIDFromCertAuth: readsUid },
  })
}

interface Review {
  readonly spec: {
    readonly token?: string
    readonly user: string
    readonly uid?: string
    readonly groups: readonly string[]
    readonly extra?: Caller['extra']
    readonly resourceAttributes: { readonly verb: string; readonly subresource: string }
  }
}

/** An API server that answers what it is asked about callers as the test says. */
function createReviewer({ isAllowed = () => true, tokenUser }: ServerOptions): Pick<KubeClient, 'send'> {
  return {
    async send<T>({ path, body }: KubeRequest): Promise<T> {
      const { spec } = body as Review
      if (path.endsWith('tokenreviews')) {
        const username = tokenUser?.(spec.token ?? '')
        return { status: { authenticated: username !== undefined, user: { username, groups: [] } } } as T
      }
      const { user: name, uid, groups, extra, resourceAttributes } = spec
      const caller = { name, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) }
      return { status: { allowed: isAllowed(caller, resourceAttributes) } } as T
    },
  }
}

function ask(options: RequestOptions, body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', servername: 'localhost', agent: false, ...options },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }))
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
