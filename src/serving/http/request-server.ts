import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ServerResponse } from '../../base/builtin/http.ts'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { HttpMetrics, RequestLabels } from '../../metrics/serving-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { AccessCheck, AccessDecision } from './access-check.ts'
import { findProgram, isAudited } from './audit.ts'
import type { Audit } from './audit.ts'
import { parseTarget } from './parse-target.ts'
import type { Route, RouteRequest } from './route.ts'
import { RouteTable } from './route-table.ts'
import type { Destination } from './route-table.ts'
import { sendAnswer } from './send-answer.ts'
import type { Answer } from './send-answer.ts'
import { traceRequest } from './trace-request.ts'
import type { TraceRequestDeps } from './trace-request.ts'

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})/

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const LONG_RUNNING = new Set(['exec', 'attach', 'debug'])

export interface RequestServerDeps extends TraceRequestDeps {
  readonly routes: readonly Route[]
  readonly checkAccess: AccessCheck
  readonly audit: Audit
  readonly metrics: HttpMetrics
  readonly clock: Clock
  readonly log: Logger
}

/** A request on its way. */
interface Visit {
  readonly request: IncomingMessage
  readonly path: string
  readonly query: URLSearchParams
  readonly destination: Destination
  caller: string | undefined
  /** Of a connection that was handed over: how it ended. */
  end: string | undefined
}

type Passed = Pick<RouteRequest, 'caller' | 'parameters'> & { readonly route: Route }

// No endpoint takes more: what a client of ours sends is a number or nothing.
const MAX_BODY_BYTES = 1024 * 1024
// As in the Go kubelet: an answer that takes longer is cut.
const ANSWER_MS = 4 * 3_600_000
const CLIENT_LEFT = 499
const NOT_FOUND: Answer = { status: 404, body: '404 page not found\n' }
const FAILED: Answer = { status: 500, body: 'internal error, see the log of the agent\n' }

/** Answers requests: finds the endpoint, asks whether the caller may, counts and keeps record. Knows nothing of ports. */
export class RequestServer {
  readonly #deps: RequestServerDeps
  readonly #table: RouteTable

  constructor(deps: RequestServerDeps) {
    this.#deps = deps
    this.#table = new RouteTable(deps.routes)
  }

  /** True when the endpoint speaks another protocol; all others answer such a request as any other. */
  wantsUpgrade(request: IncomingMessage): boolean {
    const { destination } = this.#visit(request)
    return destination.kind === 'found' && destination.route.upgrade !== undefined
  }

  /** Answers a request; never fails. */
  async handle(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const visit = this.#visit(request)
    using scope = new AbortScope(signal)
    response.once('close', () => scope.abort(new Error('Client left')))
    response.on('error', () => {}) // The client has left.
    // Node reads nothing more after a request for another protocol, also when it is answered like any other.
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close')
    const code = () => (response.headersSent ? response.statusCode : CLIENT_LEFT)
    await this.#measured(visit, code, async () => {
      const passed = await this.#pass(visit, scope.signal)
      if ('status' in passed) return refuse(request, response, passed)
      await traceRequest(this.#deps, { request, route: passed.route, code }, () =>
        this.#answer(visit, passed, response, scope.signal),
      )
    })
  }

  /** Answers a request that asks for another protocol; never fails. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, signal: AbortSignal): Promise<void> {
    const visit = this.#visit(request)
    using scope = new AbortScope(signal)
    socket.once('close', () => scope.abort(new Error('Client left')))
    socket.on('error', () => {}) // It is closed next.
    const status = watchStatus(socket)
    const code = () => status() ?? CLIENT_LEFT
    await this.#measured(visit, code, async () => {
      const passed = await this.#pass(visit, scope.signal)
      const refusal =
        'status' in passed
          ? passed
          : await traceRequest(this.#deps, { request, route: passed.route, code }, () =>
              this.#switch(visit, passed, { socket, head }, scope.signal),
            )
      if (refusal !== undefined && status() === undefined) refuseUpgrade(request, socket, refusal)
      else socket.end()
    })
  }

  #visit(request: IncomingMessage): Visit {
    const target = parseTarget(request.url ?? '')
    const destination: Destination =
      target === undefined
        ? { kind: 'nothing', label: 'other' }
        : this.#table.find(request.method ?? '', target.segments)
    const path = `/${target?.segments.join('/') ?? ''}`
    return {
      request,
      path,
      query: target?.query ?? new URLSearchParams(),
      destination,
      caller: undefined,
      end: undefined,
    }
  }

  async #measured(visit: Visit, code: () => number, work: () => Promise<void>): Promise<void> {
    const { metrics, audit, clock, log, type } = this.#deps
    const { request, destination } = visit
    // It is gone from the request when the connection is.
    const { socket } = request
    const labels = toRequestLabels(request.method, destination.label, type)
    const startedAt = clock.monotonic()
    const from = socket.remoteAddress
    metrics.requestStarted(labels)
    try {
      await work()
    } catch (error) {
      log.error('request failed', { path: destination.label, error })
      socket.destroy()
    } finally {
      const seconds = (clock.monotonic() - startedAt) / 1000
      metrics.requestEnded(labels, seconds)
      if (isAudited(destination.label)) audit({ ...toSubject(visit), from, code: code(), seconds })
    }
  }

  /** Authenticates before anything is answered, also whether there is such a path. */
  async #pass(visit: Visit, signal: AbortSignal): Promise<Passed | Answer> {
    const { request, path, destination } = visit
    const access: AccessDecision = await this.#deps.checkAccess(request, path, signal)
    visit.caller = access.caller?.name
    if (access.refusal !== undefined) return access.refusal
    switch (destination.kind) {
      case 'nothing':
        return NOT_FOUND
      case 'wrongMethod':
        return {
          status: 405,
          body: '405: Method Not Allowed\n',
          headers: { allow: [...new Set(destination.allowed)].join(', ') },
        }
      case 'found': {
        if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES)
          return { status: 413, body: `expected a body of at most ${MAX_BODY_BYTES} bytes\n` }
        const { route, parameters } = destination
        return { route, parameters, caller: access.caller }
      }
    }
  }

  async #answer(visit: Visit, passed: Passed, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const { request, query, destination } = visit
    const { route, ...rest } = passed
    const { socket } = request
    if (request.headers.expect !== undefined) response.writeContinue()
    try {
      const work = (s: AbortSignal) => route.handle({ ...rest, raw: request, query, signal: s }, response)
      await withDeadline({ clock, ms: ANSWER_MS, what: 'the answer' }, work, signal)
      if (!response.writableEnded) response.end()
    } catch (error) {
      if (!signal.aborted) log.error('request failed', { path: destination.label, error })
      // Half an answer must not look like a whole one.
      if (signal.aborted || response.headersSent || error instanceof DeadlineError) response.destroy()
      else sendAnswer(response, FAILED)
    }
    // A body that no handler wanted is not read to its end.
    if (hasBody(request) && !request.complete) socket.destroySoon()
  }

  /** Hands the connection over; gives what to answer when that failed. */
  async #switch(
    visit: Visit,
    { route, ...rest }: Passed,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const { request, query, destination } = visit
    try {
      visit.end = await route.upgrade?.({ ...rest, raw: request, query, signal }, socket, head)
      return undefined
    } catch (error) {
      if (!signal.aborted) this.#deps.log.error('request failed', { path: destination.label, error })
      return FAILED
    }
  }
}

function toSubject({ request, path, query, destination, caller, end }: Visit) {
  const parameters = destination.kind === 'found' ? destination.parameters : {}
  return { ...parameters, caller, method: request.method ?? '', path, program: findProgram(query), end }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function refuse(request: IncomingMessage, response: ServerResponse, refusal: Answer): void {
  sendAnswer(
    response,
    hasBody(request) ? { ...refusal, headers: { ...refusal.headers, connection: 'close' } } : refusal,
  )
}

/** Says no in HTTP to a client that wanted to leave HTTP, and closes: it is not known where its next request would begin. */
function refuseUpgrade(request: IncomingMessage, socket: Duplex, refusal: Answer): void {
  const response = new ServerResponse(request)
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end())
  sendAnswer(response, { ...refusal, headers: { ...refusal.headers, connection: 'close' } })
}

/** What a request counts as. All of it comes from closed sets: no client can make new series. */
function toRequestLabels(
  method: string | undefined,
  path: string,
  serverType: RequestLabels['serverType'],
): RequestLabels {
  return {
    method: method !== undefined && METHODS.has(method) ? method : 'other',
    path,
    serverType,
    longRunning: LONG_RUNNING.has(path),
  }
}

/** Reads along what is first written to a connection; gives the status that the client got, if it is one of HTTP. */
function watchStatus(socket: Duplex): () => number | undefined {
  let status: number | undefined
  const write = socket.write.bind(socket)
  socket.write = ((chunk: Uint8Array | string, ...rest: [never]) => {
    socket.write = write
    const start = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1', 0, 16)
    const [, code] = STATUS_LINE.exec(start) ?? []
    if (code !== undefined) status = Number(code)
    return write(chunk, ...rest)
  }) as typeof socket.write
  return () => status
}
