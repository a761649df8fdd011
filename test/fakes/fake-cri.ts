import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server as SocketServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { Metadata, MethodDefinition, sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { systemClock } from '../../src/base/async/clock.ts'
import { criServices } from '../../src/protocols/cri/cri-methods.ts'
import { EventsDefinition } from '../../src/protocols/cri/generated/containerd-events.ts'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import type { CriMethod, CriRequest } from '../../src/protocols/cri/cri-methods.ts'
import type { RuntimeUsage } from '../../src/simulation/runtime/runtime-handlers.ts'
import type { SimulatedContainer } from '../../src/simulation/runtime/simulated-runtime.ts'
import { SimulatedCri } from '../../src/simulation/runtime/simulated-cri.ts'
import type { SimulatedCriOptions } from '../../src/simulation/runtime/simulated-cri.ts'
import { SimulatedFault } from '../../src/simulation/runtime/simulated-fault.ts'
import { fileLogs } from './fake-cri-logs.ts'

export interface FakeCriOptions extends Partial<Omit<SimulatedCriOptions, 'logs'>> {
  /** Which event stream the runtime has; that of containerd by default. */
  readonly events?: 'cri' | 'containerd' | 'none'
  /** Log files are made and can be written with log(). */
  readonly writeLogs?: boolean
}

interface IncomingCall {
  readonly metadata: Metadata
  readonly request: object
  on(event: 'cancelled', listener: () => void): unknown
}

/** The simulated runtime behind real gRPC on a unix socket. It follows containerd 1.6; test/contract holds it to that. */
export class FakeCri extends SimulatedCri implements AsyncDisposable {
  readonly endpoint: string
  /** Every call that arrived, in order. */
  readonly called: { readonly method: CriMethod | 'containerdEvents'; readonly request: object }[] = []
  /** To which spans of traces the calls belong, by what came with them. */
  readonly traceparents: { readonly method: CriMethod; readonly traceparent: string }[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), 'fake-cri-'))
  readonly #stream: 'cri' | 'containerd' | 'none'
  readonly #usage: Map<string, RuntimeUsage>
  readonly #sockets = new Set<Socket>()
  #isMute = false
  #server: SocketServer | undefined

  /** Starts one that is ready for calls. */
  static async start(options: FakeCriOptions = {}): Promise<FakeCri> {
    const fake = new FakeCri(options)
    await fake.listen()
    return fake
  }

  private constructor({ events = 'containerd', writeLogs = false, ...options }: FakeCriOptions) {
    const usage = new Map<string, RuntimeUsage>()
    const usageOf = ({ id }: SimulatedContainer) => usage.get(id)
    super({ clock: systemClock, usageOf, ...options, logs: writeLogs ? fileLogs : undefined })
    this.#usage = usage
    this.#stream = events
    this.endpoint = `unix://${join(this.#folder, 'cri.sock')}`
  }

  /** The requests of one method, in order. */
  requests<M extends CriMethod>(method: M): CriRequest<M>[] {
    return this.called.filter((call) => call.method === method).map(({ request }) => request as CriRequest<M>)
  }

  exitContainer(id: string, exitCode: number, reason?: string): void {
    this.runtime.exit(id, exitCode, reason)
  }

  /** Streams of events stay open and bring nothing. */
  muteEvents(isMute: boolean): void {
    this.#isMute = isMute
  }

  setRuntimeReady(ready: boolean): void {
    this.state.runtimeReady = ready
  }

  setNetworkReady(ready: boolean): void {
    this.state.networkReady = ready
  }

  setUsage(containerId: string, usage: RuntimeUsage): void {
    this.#usage.set(containerId, usage)
  }

  /** What the kernel would count of a container. */
  usageOf({ id }: SimulatedContainer): RuntimeUsage {
    return this.#usage.get(id) ?? { cpuNanoseconds: 0n, workingSetBytes: 0n }
  }

  /** The container prints a line. Needs writeLogs. */
  log(containerId: string, text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    fileLogs.append(this.runtime.get(containerId).logPath, stream, this.state.clock.now(), text)
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
    this[Symbol.dispose]()
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
    return await this.answer(method, call.request, cancel.signal)
  }

  #streamEvents(method: 'getContainerEvents' | 'containerdEvents', call: ServerWritableStream<object, object>): void {
    this.called.push({ method, request: call.request })
    if (this.#stream !== (method === 'getContainerEvents' ? 'cri' : 'containerd')) {
      call.emit('error', new SimulatedFault('Unimplemented', `method ${method} not implemented`))
      return
    }
    if (method === 'containerdEvents' && call.metadata.get('containerd-namespace')[0] !== 'k8s.io') {
      call.emit('error', new SimulatedFault('FailedPrecondition', 'namespace is required'))
      return
    }
    const write = (event: object) => void (this.#isMute || call.write(event))
    const end = method === 'getContainerEvents' ? this.events.onCri(write) : this.events.onContainerd(write)
    call.on('cancelled', end)
  }
}
