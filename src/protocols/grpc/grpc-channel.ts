import { Client, connectivityState, credentials, Metadata } from '@grpc/grpc-js'
import type { ChannelCredentials } from '@grpc/grpc-js'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { GrpcCallError, toGrpcCallError } from './grpc-call-error.ts'
import type { GrpcConnection } from './grpc-connection.ts'
import type { GrpcMethod } from './grpc-method.ts'

const LARGEST_REPLY_BYTES = 16 * 1024 * 1024

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': LARGEST_REPLY_BYTES,
  // The connection is ours: closing the channel closes it.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
}

// A peer on this machine that starts again is found soon; a failed attempt costs next to nothing.
const LOCAL_OPTIONS = {
  'grpc.default_authority': 'localhost',
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3000,
}

/** The authority of the peer's certificate, and our own certificate with its key, all PEM; without an authority the system's count. */
export interface GrpcTls {
  readonly ca?: Buffer | undefined
  readonly certificate?: { readonly cert: Buffer; readonly key: Buffer } | undefined
}

/** Where a channel goes. */
export interface GrpcChannelOptions {
  /** As gRPC writes it, for example "unix:///run/a.sock", "ipv4:127.0.0.1:80" or "dns:host:4317". */
  readonly target: string
  /** Measures the time limits of calls. */
  readonly clock: Clock
  readonly userAgent?: string
  /** Whether grpc-js may send a call again that never reached the server; unset: it may. */
  readonly retries?: boolean
  /** Unset: without encryption, to peers on this machine or with no other way configured. */
  readonly tls?: GrpcTls | undefined
  /** Asks a silent peer so often whether it is there, while a call is under way; unset: never, as a peer on this machine cannot vanish unseen. */
  readonly pingMs?: number
  readonly largestReplyBytes?: number
}

/** What a call has besides its request. */
export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** After this long the call fails with DeadlineExceeded; unset: it may last. */
  readonly timeoutMs?: number | undefined
}

/** What calls go over. */
export type CallChannel = Pick<GrpcChannel, 'unary' | 'stream'>

/** One gRPC connection; it comes back by itself after the peer went away. Calls fail with a GrpcCallError or the signal's reason. */
export class GrpcChannel implements GrpcConnection, Disposable {
  readonly #client: Client
  readonly #clock: Clock
  readonly #waiting = new Set<() => void>()
  #watching = false
  #closed = false

  constructor(options: GrpcChannelOptions) {
    const { target, clock, userAgent, retries = true, tls, pingMs, largestReplyBytes } = options
    this.#clock = clock
    this.#client = new Client(target, toCredentials(tls), {
      ...CHANNEL_OPTIONS,
      ...(largestReplyBytes === undefined ? {} : { 'grpc.max_receive_message_length': largestReplyBytes }),
      ...(target.startsWith('unix:') ? LOCAL_OPTIONS : {}),
      ...(pingMs === undefined ? {} : { 'grpc.keepalive_time_ms': pingMs, 'grpc.keepalive_timeout_ms': pingMs }),
      ...(userAgent === undefined ? {} : { 'grpc.primary_user_agent': userAgent }),
      'grpc.enable_retries': retries ? 1 : 0,
    })
  }

  /** Calls and waits for the one reply. */
  async unary<Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Response> {
    this.#check(nameOf(method), signal)
    using scope = new AbortScope(signal)
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const call = this.#client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      toMetadata(options),
      (error, response) => (error ? reject(error) : resolve(response as Response)),
    )
    const cancel = () => call.cancel()
    scope.signal.addEventListener('abort', cancel, { once: true })
    this.#armDeadline(options, scope)
    try {
      return await promise
    } catch (error) {
      throw toFailure(nameOf(method), error, { scope, signal })
    } finally {
      // The scope's own end is no reason to cancel a call that is over.
      scope.signal.removeEventListener('abort', cancel)
    }
  }

  /**
   * Calls and yields each reply; leaving the loop or aborting cancels the call. A method that takes many requests gets this one, and our side
   * of the call stays open.
   */
  async *stream<Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    options: CallOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Response, void> {
    this.#check(nameOf(method), signal)
    using scope = new AbortScope(signal)
    const call = this.#startStream(method, request, toMetadata(options))
    // The loop below sees an error that ends it; a later one (of our own cancel) has no other listener and would be uncaught.
    call.on('error', () => {})
    // Also when the loop is left: the scope aborts with this block.
    scope.signal.addEventListener('abort', () => call.cancel(), { once: true })
    this.#armDeadline(options, scope)
    try {
      for await (const response of call) yield response as Response
      signal.throwIfAborted()
    } catch (error) {
      throw toFailure(nameOf(method), error, { scope, signal })
    }
  }

  #startStream<Request, Response>(method: GrpcMethod<Request, Response>, request: Request, metadata: Metadata) {
    const { path, requestSerialize, responseDeserialize } = method
    if (!method.requestStream)
      return this.#client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata)
    const call = this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata)
    call.write(request)
    return call
  }

  get connected(): boolean {
    return !this.#closed && this.#client.getChannel().getConnectivityState(false) === connectivityState.READY
  }

  get closed(): boolean {
    return this.#closed
  }

  async nextChange(signal: AbortSignal): Promise<void> {
    this.#check('connect', signal)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = () => reject(signal.reason)
    this.#waiting.add(resolve)
    signal.addEventListener('abort', abort, { once: true })
    try {
      this.#watch()
      await promise
    } finally {
      this.#waiting.delete(resolve)
      signal.removeEventListener('abort', abort)
    }
  }

  #check(method: string, signal: AbortSignal): void {
    signal.throwIfAborted()
    if (this.#closed) throw new GrpcCallError({ method, code: 'Unavailable', detail: 'connection is closed' })
  }

  /** The deadline runs on our clock instead of gRPC's, and cancels the call like any abort. It ends with the scope. */
  #armDeadline({ timeoutMs }: CallOptions, scope: AbortScope): void {
    if (timeoutMs === undefined) return
    this.#clock.sleep(timeoutMs, scope.signal).then(
      () => scope.abort(new DeadlineError(`no answer after ${timeoutMs / 1000} s`)),
      () => {},
    )
  }

  // gRPC's watchers cannot be taken back, so all who wait share one.
  #watch(): void {
    if (this.#watching) return
    this.#watching = true
    const channel = this.#client.getChannel()
    channel.watchConnectivityState(channel.getConnectivityState(true), Infinity, () => {
      this.#watching = false
      for (const resolve of this.#waiting) resolve()
    })
  }

  /** Ends the connection; calls under way fail with Unavailable or end by their signal. May be called again. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#client.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

function toCredentials(tls: GrpcTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure()
  const { ca = null, certificate } = tls
  return credentials.createSsl(ca, certificate?.key ?? null, certificate?.cert ?? null)
}

function nameOf({ path }: { readonly path: string }): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Our own abort is the signal's reason; everything else is an error of the call. */
function toFailure(
  method: string,
  error: unknown,
  { scope, signal }: { readonly scope: AbortScope; readonly signal: AbortSignal },
): unknown {
  if (signal.aborted) return signal.reason
  const late: unknown = scope.signal.reason
  if (!(late instanceof DeadlineError)) return toGrpcCallError(method, error)
  return new GrpcCallError({ method, code: 'DeadlineExceeded', detail: late.message }, { cause: late })
}

function toMetadata({ headers = {} }: CallOptions): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return metadata
}
