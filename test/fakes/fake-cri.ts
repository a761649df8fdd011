import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server as SocketServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { Metadata, MethodDefinition, sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { systemClock } from '../../src/base/async/clock.ts'
import type { Clock } from '../../src/base/async/clock.ts'
import { criServices } from '../../src/protocols/cri/cri-methods.ts'
import { EventsDefinition } from '../../src/protocols/cri/generated/containerd-events.ts'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import type { CriMethod, CriRequest } from '../../src/protocols/cri/cri-methods.ts'
import type { ContainerConfig } from '../../src/protocols/cri/generated/runtime-v1.ts'
import { FakeCriError } from './fake-cri-error.ts'
import { FakeCriEvents } from './fake-cri-events.ts'
import { createFakeCriHandlers, NEWER_METHODS } from './fake-cri-handlers.ts'
import { FakeCriImages } from './fake-cri-images.ts'
import { appendLog } from './fake-cri-logs.ts'
import { FakeCriRuntime } from './fake-cri-runtime.ts'
import { FakeCriScript } from './fake-cri-script.ts'
import type { FakeCriHandlers, FakeCriState, FakeExec } from './fake-cri-handlers.ts'
import type { FakeContainer, FakeProgram } from './fake-cri-runtime.ts'

export interface FakeCriOptions {
  readonly clock?: Clock
  /** Images that are there from the start. */
  readonly images?: readonly string[]
  /** Which event stream the runtime has; that of containerd by default. */
  readonly events?: 'cri' | 'containerd' | 'none'
  /** What the process of a container does; by default it runs until it is stopped. */
  readonly programOf?: (config: ContainerConfig) => FakeProgram
  readonly onExec?: (container: FakeContainer, cmd: readonly string[]) => FakeExec
  /** Log files are made and can be written with log(). */
  readonly writeLogs?: boolean
  /** Has the calls that containerd 1.6 lacks. */
  readonly newer?: boolean
  /** The name and version that it reports; an unknown runtime by default. */
  readonly version?: FakeCriState['version']
  /** Ways of running pods besides the usual one, or with it (named ''), and what it says of them; containerd 1.6 says nothing. */
  readonly handlers?: FakeCriState['handlers']
  readonly supplementalGroupsPolicy?: boolean
}

interface IncomingCall {
  readonly metadata: Metadata
  readonly request: object
  on(event: 'cancelled', listener: () => void): unknown
}

type AnyHandler = (request: object, signal: AbortSignal) => object | Promise<object>

/** A CRI runtime in memory behind real gRPC on a unix socket. It follows containerd 1.6; test/contract holds it to that. */
export class FakeCri implements AsyncDisposable {
  readonly endpoint: string
  readonly runtime: FakeCriRuntime
  readonly images = new FakeCriImages()
  readonly events = new FakeCriEvents()
  readonly script: FakeCriScript
  /** Every call that arrived, in order. */
  readonly called: { readonly method: CriMethod | 'containerdEvents'; readonly request: object }[] = []
  /** To which spans of traces the calls belong, by what came with them. */
  readonly traceparents: { readonly method: CriMethod; readonly traceparent: string }[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), 'fake-cri-'))
  readonly #ended = new AbortController()
  readonly #state: FakeCriState
  readonly #handlers: FakeCriHandlers
  readonly #options: FakeCriOptions
  readonly #sockets = new Set<Socket>()
  #server: SocketServer | undefined

  /** Starts one that is ready for calls. */
  static async start(options: FakeCriOptions = {}): Promise<FakeCri> {
    const fake = new FakeCri(options)
    await fake.listen()
    return fake
  }

  private constructor(options: FakeCriOptions) {
    const { clock = systemClock, images = [], programOf = () => ({}), onExec = () => ({}), writeLogs = false } = options
    this.#options = options
    this.endpoint = `unix://${join(this.#folder, 'cri.sock')}`
    for (const image of images) this.images.add(image)
    const { events } = this
    this.runtime = new FakeCriRuntime({
      clock,
      events,
      images: this.images,
      programOf,
      writeLogs,
      signal: this.#ended.signal,
    })
    this.script = new FakeCriScript(clock)
    this.#state = {
      clock,
      runtime: this.runtime,
      images: this.images,
      events,
      onExec,
      writeLogs,
      usage: new Map(),
      version: options.version ?? { name: 'fake', version: '1.0.0' },
      handlers: options.handlers ?? {},
      supplementalGroupsPolicy: options.supplementalGroupsPolicy ?? false,
      runtimeReady: true,
      networkReady: true,
    }
    this.#handlers = createFakeCriHandlers(this.#state)
  }

  /** The requests of one method, in order. */
  requests<M extends CriMethod>(method: M): CriRequest<M>[] {
    return this.called.filter((call) => call.method === method).map(({ request }) => request as CriRequest<M>)
  }

  exitContainer(id: string, exitCode: number, reason?: string): void {
    this.runtime.exit(id, exitCode, reason)
  }

  setRuntimeReady(ready: boolean): void {
    this.#state.runtimeReady = ready
  }

  setNetworkReady(ready: boolean): void {
    this.#state.networkReady = ready
  }

  setUsage(containerId: string, usage: { readonly cpuNanoseconds: bigint; readonly workingSetBytes: bigint }): void {
    this.#state.usage.set(containerId, usage)
  }

  /** The container prints a line. Needs writeLogs. */
  log(containerId: string, text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    appendLog(this.runtime.get(containerId).logPath, stream, this.#state.clock.now(), text)
  }

  /** The runtime's process goes away and its containers stay; listen() starts it again. */
  stopListening(): void {
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async listen(): Promise<void> {
    const injector = this.#createGrpcServer().createConnectionInjector(ServerCredentials.createInsecure())
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      injector.injectConnection(socket)
    })
    this.#server.listen(join(this.#folder, 'cri.sock'))
    await once(this.#server, 'listening')
  }

  /** Breaks every connection; the next one is taken at once. */
  async dropConnections(): Promise<void> {
    this.stopListening()
    await this.listen()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    this.stopListening()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #createGrpcServer(): Server {
    const server = new Server()
    for (const { fullName, methods } of Object.values(criServices)) {
      for (const [name, generated] of Object.entries(methods)) {
        const method = toGrpcMethod<never, never>(fullName, generated) as unknown as MethodDefinition<object, object>
        server.addService({ [name]: method }, { [name]: this.#implement(name as CriMethod, method.responseStream) })
      }
    }
    server.addService(
      { subscribe: toGrpcMethod(EventsDefinition.fullName, EventsDefinition.methods.subscribe) },
      { subscribe: (call: ServerWritableStream<object, object>) => this.#streamEvents('containerdEvents', call) },
    )
    return server
  }

  #implement(method: CriMethod, isStream: boolean) {
    if (method === 'getContainerEvents') {
      return (call: ServerWritableStream<object, object>) => this.#streamEvents(method, call)
    }
    if (isStream) {
      return async (call: ServerWritableStream<object, object>) => {
        try {
          call.write(await this.#answer(method, call))
          call.end()
        } catch (error) {
          call.emit('error', error)
        }
      }
    }
    return (call: ServerUnaryCall<object, object>, reply: sendUnaryData<object>) => {
      this.#answer(method, call).then(
        (response) => reply(null, response),
        (error: Error) => reply(error),
      )
    }
  }

  async #answer(method: CriMethod, call: IncomingCall): Promise<object> {
    this.called.push({ method, request: call.request })
    const [traceparent] = call.metadata.get('traceparent')
    if (traceparent !== undefined) this.traceparents.push({ method, traceparent: String(traceparent) })
    const cancel = new AbortController()
    call.on('cancelled', () => cancel.abort())
    await this.script.before(method, cancel.signal)
    const { responseType } = { ...criServices.runtime.methods, ...criServices.image.methods }[method]
    const planned = this.script.replyTo(method)
    if (planned !== undefined) return responseType.fromPartial(planned)
    const handler = this.#handlers[method] as AnyHandler | undefined
    const absent = NEWER_METHODS.includes(method) && this.#options.newer !== true
    if (handler === undefined || absent) {
      throw new FakeCriError('UNIMPLEMENTED', `unknown method ${method}`)
    }
    const reply = responseType.fromPartial(await handler(call.request, cancel.signal))
    return responseType.fromPartial(this.script.altered(method, reply))
  }

  #streamEvents(method: 'getContainerEvents' | 'containerdEvents', call: ServerWritableStream<object, object>): void {
    this.called.push({ method, request: call.request })
    const { events = 'containerd' } = this.#options
    if (events !== (method === 'getContainerEvents' ? 'cri' : 'containerd')) {
      call.emit('error', new FakeCriError('UNIMPLEMENTED', `method ${method} not implemented`))
      return
    }
    if (method === 'containerdEvents' && call.metadata.get('containerd-namespace')[0] !== 'k8s.io') {
      call.emit('error', new FakeCriError('FAILED_PRECONDITION', 'namespace is required'))
      return
    }
    const write = (event: object) => void call.write(event)
    const end = method === 'getContainerEvents' ? this.events.onCri(write) : this.events.onContainerd(write)
    call.on('cancelled', end)
  }
}
