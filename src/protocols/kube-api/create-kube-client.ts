import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { KubeClientMetrics } from './client-metrics.ts'
import { computeRetry } from './compute-retry.ts'
import type { FailedAttempt } from './compute-retry.ts'
import { formatExactJson, parseExactJson } from '../../base/document/exact-json.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { GarbledAnswerError } from './garbled-answer-error.ts'
import { KubeApiError, KubeUnreachableError } from './kube-client.ts'
import type { KubeClient, KubeRequest, WatchEvent } from './kube-client.ts'
import { readLines, readText } from './read-body.ts'
import { RequestBudget } from './request-budget.ts'
import { toApiError } from './to-api-error.ts'
import { BrokenConnectionError, RetiredConnectionError } from './transport/transport.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport/transport.ts'

const WATCH_TYPES: readonly unknown[] = [
  'ADDED',
  'MODIFIED',
  'DELETED',
  'BOOKMARK',
  'ERROR',
] satisfies WatchEvent['type'][]

export interface KubeClientDeps {
  /** Clients may share one. */
  readonly transport: Transport
  /** Requests a second and at once; below 0 without limit, 0 is the usual 5. */
  readonly qps: number
  readonly burst: number
  /** For a request with all its repetitions; watches have none. */
  readonly requestTimeoutMs?: number
  readonly userAgent: string
  readonly metrics: KubeClientMetrics
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

type Ask = Transport['request']

// An API server ends a request after a minute itself.
const ATTEMPT_MS = 70_000
// A watch has begun before anything has happened: one that does not begin for so long has no server behind it.
const WATCH_BEGIN_MS = 30_000
const LONG_WAIT_SECONDS = 1

/** A client with a rate of its own. */
export function createKubeClient(deps: KubeClientDeps): KubeClient {
  return new RateLimitedClient(deps)
}

class RateLimitedClient implements KubeClient {
  readonly #deps: KubeClientDeps
  readonly #budget: RequestBudget

  constructor(deps: KubeClientDeps) {
    this.#deps = deps
    this.#budget = new RequestBudget(deps)
  }

  async send<T>(request: KubeRequest, signal: AbortSignal): Promise<T> {
    const { requestTimeoutMs } = this.#deps
    const what = describe(request)
    using scope = new AbortScope(signal)
    using _timer = this.#abortAfter(request.timeoutMs ?? requestTimeoutMs, what, scope)
    return await toClientErrors(what, scope, signal, () =>
      this.#repeat(request.method, what, scope.signal, (ask) => this.#exchange<T>(request, what, ask, scope.signal)),
    )
  }

  async *watch({ path, query }: Pick<KubeRequest, 'path' | 'query'>, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const request: KubeRequest = { method: 'GET', path, query: { ...query, watch: 'true' } }
    const what = `watch "${path}"`
    using scope = new AbortScope(signal)
    const response = await toClientErrors(what, scope, signal, () =>
      this.#repeat('GET', what, scope.signal, (ask) => this.#begin(request, what, ask, scope)),
    )
    try {
      for await (const line of readLines(response.body)) yield parseWatchEvent(line)
    } catch (error) {
      // An end like any other: the caller asks for more.
      if (!(error instanceof RetiredConnectionError)) throw error
    }
  }

  /** Attempts until one succeeds or is not worth repeating, each in its turn. */
  async #repeat<T>(method: string, what: string, signal: AbortSignal, attempt: (ask: Ask) => Promise<T>): Promise<T> {
    const { clock, random, log } = this.#deps
    for (let count = 1; ; count += 1) {
      await this.#waitForTurn(method, what, signal)
      try {
        return await this.#measure(method, count > 1, attempt)
      } catch (error) {
        if (signal.aborted) throw error
        const delayMs = computeRetry(toFailedAttempt(error), { method, attempt: count, chance: random() })
        if (delayMs === undefined) throw error
        log.debug('a request to the API server is repeated', {
          request: what,
          attempt: count,
          delayMs: Math.round(delayMs),
          error,
        })
        if (delayMs > 0) await clock.sleep(delayMs, signal)
      }
    }
  }

  async #exchange<T>(request: KubeRequest, what: string, ask: Ask, signal: AbortSignal): Promise<T> {
    using scope = new AbortScope(signal)
    using _timer = this.#abortAfter(ATTEMPT_MS, what, scope)
    return await toClientErrors(what, scope, signal, async () => {
      const outgoing = this.#toOutgoing(request, false)
      const response = await ask(outgoing, scope.signal)
      const text = await readText(response.body)
      this.#measureSize(outgoing, text)
      if (!isSuccess(response)) throw toApiError({ what, code: response.status, text, retryAfter: response.retryAfter })
      return parseAnswer(text, what, request.path) as T
    })
  }

  /** The beginning of a watch: only that has a limit of time. */
  async #begin(request: KubeRequest, what: string, ask: Ask, scope: AbortScope): Promise<TransportResponse> {
    using _timer = this.#abortAfter(WATCH_BEGIN_MS, what, scope)
    const response = await ask(this.#toOutgoing(request, true), scope.signal)
    if (isSuccess(response)) return response
    const text = await readText(response.body)
    throw toApiError({ what, code: response.status, text, retryAfter: response.retryAfter })
  }

  #toOutgoing(request: KubeRequest, isWatch: boolean): TransportRequest {
    const { method, path, query = {}, body, contentType = 'application/json' } = request
    const search = new URLSearchParams(query).toString()
    return {
      method,
      target: search === '' ? path : `${path}?${search}`,
      headers: {
        accept: 'application/json',
        'user-agent': this.#deps.userAgent,
        ...(body !== undefined && { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : Buffer.from(formatExactJson(body)),
      isWatch,
    }
  }

  async #waitForTurn(method: string, what: string, signal: AbortSignal): Promise<void> {
    const { metrics, transport, log } = this.#deps
    const seconds = (await this.#budget.take(signal)) / 1000
    metrics.waited({ method, host: transport.host, seconds })
    if (seconds >= LONG_WAIT_SECONDS)
      log.info('a request waited for its turn, by the limits of this client', { request: what, seconds })
  }

  async #measure<T>(method: string, isRepeat: boolean, attempt: (ask: Ask) => Promise<T>): Promise<T> {
    const { metrics, transport, clock } = this.#deps
    const { host } = transport
    const began = clock.monotonic()
    let code = '<error>'
    try {
      return await attempt(async (request, signal) => {
        const response = await transport.request(request, signal)
        code = String(response.status)
        return response
      })
    } finally {
      metrics.request({ method, code, host, seconds: (clock.monotonic() - began) / 1000, isRepeat })
    }
  }

  #measureSize({ method, body }: TransportRequest, answer: string): void {
    const { metrics, transport } = this.#deps
    const [requestBytes, responseBytes] = [body?.length ?? 0, Buffer.byteLength(answer)]
    metrics.sized({ method, host: transport.host, requestBytes, responseBytes })
  }

  #abortAfter(ms: number | undefined, what: string, scope: AbortScope): Disposable {
    const timer = new AbortScope(scope.signal)
    if (ms === undefined) return timer
    const late = () => scope.abort(new DeadlineError(`Cannot ${what}: no answer after ${ms} ms`))
    // Rejects when the answer came in time.
    this.#deps.clock.sleep(ms, timer.signal).then(late, () => {})
    return timer
  }
}

/** What its own limit ended is no answer; what the caller ended is the caller's. */
async function toClientErrors<T>(
  what: string,
  scope: AbortScope,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (scope.signal.aborted)
      throw new KubeUnreachableError(toMessage(scope.signal.reason, what), { cause: scope.signal.reason })
    throw error
  }
}

function toMessage(reason: unknown, what: string): string {
  return Error.isError(reason) ? reason.message : `Cannot ${what}`
}

function isSuccess({ status }: TransportResponse): boolean {
  return status >= 200 && status < 300
}

function parseAnswer(text: string, what: string, path: string): unknown {
  const answer = parseJson(text, what)
  // An empty object in place of a Node would reject pods for good.
  if (isObjectPath(path) && !(isRecord(answer) && ('kind' in answer || 'metadata' in answer)))
    throw new GarbledAnswerError(`Cannot ${what}: the answer of ${text.length} characters is no object of Kubernetes`)
  return answer
}

/** Whether the API answers with an object of its own, and not with what a kubelet, pod or service behind it says. */
function isObjectPath(path: string): boolean {
  return /^\/apis?\//.test(path) && !/\/(?:nodes|pods|services)\/[^/]+\/proxy\//.test(path)
}

function parseJson(text: string, what: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    // The parser's own words quote the text, which may be a secret.
    throw new GarbledAnswerError(`Cannot ${what}: the answer of ${text.length} characters is not JSON`)
  }
}

function toFailedAttempt(error: unknown): FailedAttempt {
  if (error instanceof KubeApiError)
    return { kind: 'refused', code: error.code, retryAfterSeconds: error.retryAfterSeconds }
  if (!(error instanceof BrokenConnectionError)) return { kind: 'other' }
  if (error.stage === 'connecting') return { kind: 'other' }
  return { kind: error.stage === 'refused' ? 'not started' : 'broken' }
}

function describe({ method, path }: KubeRequest): string {
  return `${method} "${path}"`
}

/** One line of a watch. Its text is not quoted when it makes no sense: it may hold a secret. */
function parseWatchEvent(line: string): WatchEvent {
  let value: Partial<WatchEvent> | null
  try {
    value = parseExactJson(line) as typeof value
  } catch {
    throw new GarbledAnswerError(`Cannot read a watch: a line of ${line.length} characters is not JSON`)
  }
  const { type, object } = value ?? {}
  if (!WATCH_TYPES.includes(type)) throw new GarbledAnswerError('Cannot read a watch: a line is of no known type')
  if (!isRecord(object)) throw new GarbledAnswerError('Cannot read a watch: a line has no object')
  return { type, object } as WatchEvent
}
