import { Client, connectivityState, credentials, Metadata, status } from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/grpc-js'

const LARGEST_REPLY_BYTES = 16 * 1024 * 1024

const CHANNEL_OPTIONS = {
  'grpc.default_authority': 'localhost',
  'grpc.max_receive_message_length': LARGEST_REPLY_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3000,
  // The connection is ours: closing the channel closes it.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
}

/** What goes with a call besides its request. */
export interface CallHeaders {
  readonly headers?: Readonly<Record<string, string>>
}

/** One gRPC connection over a unix socket; it comes back by itself after the peer went away. */
export class GrpcChannel implements Disposable {
  readonly #client: Client
  readonly #waiting = new Set<() => void>()
  #watching = false
  #closed = false

  constructor(endpoint: { readonly socketPath: string }) {
    this.#client = new Client(`unix://${endpoint.socketPath}`, credentials.createInsecure(), CHANNEL_OPTIONS)
  }

  /** Calls and waits for the one reply. Abort cancels the call and rejects with the signal's reason. */
  async unary<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options: CallHeaders,
    signal: AbortSignal,
  ): Promise<Response> {
    this.#check(signal)
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
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await promise
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  /** Calls and yields each reply; leaving the loop or aborting cancels the call. */
  async *stream<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options: CallHeaders,
    signal: AbortSignal,
  ): AsyncGenerator<Response, void> {
    this.#check(signal)
    const call = this.#client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      toMetadata(options),
    )
    // The loop below sees an error that ends it; a later one (of our own cancel) has no other listener and would be uncaught.
    call.on('error', () => {})
    const cancel = () => call.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      for await (const response of call) yield response as Response
      signal.throwIfAborted()
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', cancel)
      call.cancel()
    }
  }

  get connected(): boolean {
    return !this.#closed && this.#client.getChannel().getConnectivityState(false) === connectivityState.READY
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Resolves when the state of the connection changed in any way; meanwhile the channel tries to connect. */
  async nextChange(signal: AbortSignal): Promise<void> {
    this.#check(signal)
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

  #check(signal: AbortSignal): void {
    signal.throwIfAborted()
    if (this.#closed) throw Object.assign(new Error('connection is closed'), { code: status.UNAVAILABLE })
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

function toMetadata({ headers = {} }: CallHeaders): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return metadata
}
