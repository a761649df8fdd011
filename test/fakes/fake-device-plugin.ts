import { rmSync } from 'node:fs'
import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { systemClock } from '../../src/base/async/clock.ts'
import { withDeadline } from '../../src/base/async/deadline.ts'
import { GrpcChannel } from '../../src/protocols/grpc/grpc-channel.ts'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import { waitForReady } from '../../src/protocols/grpc/grpc-connection.ts'
import {
  ContainerAllocateResponse,
  DevicePluginDefinition,
  RegistrationDefinition,
} from '../../src/node/devices/generated/device-plugin-v1beta1.ts'
import type {
  AllocateRequest,
  AllocateResponse,
  Device,
  DevicePluginOptions,
  ListAndWatchResponse,
  PreferredAllocationRequest,
  PreferredAllocationResponse,
  PreStartContainerRequest,
} from '../../src/node/devices/generated/device-plugin-v1beta1.ts'

type Method = 'options' | 'allocate' | 'preStart' | 'prefer'
type Allocation = Parameters<typeof ContainerAllocateResponse.create>[0]

export interface FakeDevicePluginOptions {
  /** Where the agent has its socket. */
  readonly folder: string
  readonly resource?: string
  /** All of them well, near to no NUMA node. */
  readonly ids?: readonly string[]
  readonly options?: Partial<DevicePluginOptions>
  /** The name of its socket. */
  readonly endpoint?: string
  /** What a container gets for its devices; without, a variable with their ids. */
  readonly allocation?: (ids: readonly string[]) => Allocation
}

const PATIENCE_MS = 20_000
const { fullName, methods } = DevicePluginDefinition
const register = toGrpcMethod(RegistrationDefinition.fullName, RegistrationDefinition.methods.register)

/** A device plugin behind real gRPC: it has devices, gives them, and keeps a journal of what it was asked. */
export class FakeDevicePlugin implements Disposable {
  readonly resource: string
  readonly socketPath: string
  /** What it was asked, such as "allocate a b". */
  readonly asked: string[] = []
  /** Methods that are answered when the test lets go of them. */
  readonly hung = new Set<Method>()
  /** Methods that fail, and their error messages. */
  readonly failing = new Map<Method, string>()
  /** Which devices it prefers. */
  preferred: readonly string[] = []
  readonly #options: FakeDevicePluginOptions
  readonly #server = new Server()
  readonly #streams = new Set<ServerWritableStream<object, ListAndWatchResponse>>()
  readonly #waiting: (() => void)[] = []
  #devices: readonly Device[]

  private constructor(options: FakeDevicePluginOptions) {
    const { folder, resource = 'example.com/gpu', ids = ['a', 'b'], endpoint = 'fake.sock' } = options
    this.#options = options
    this.resource = resource
    this.socketPath = `${folder}/${endpoint}`
    this.#devices = ids.map((ID) => ({ ID, health: 'Healthy' }))
    this.#server.addService(
      {
        getDevicePluginOptions: toGrpcMethod(fullName, methods.getDevicePluginOptions),
        listAndWatch: toGrpcMethod(fullName, methods.listAndWatch),
        allocate: toGrpcMethod(fullName, methods.allocate),
        preStartContainer: toGrpcMethod(fullName, methods.preStartContainer),
        getPreferredAllocation: toGrpcMethod(fullName, methods.getPreferredAllocation),
      },
      this.#implementation(),
    )
  }

  /** It serves from now on, but does not register yet. */
  static async start(options: FakeDevicePluginOptions): Promise<FakeDevicePlugin> {
    const plugin = new FakeDevicePlugin(options)
    await new Promise<void>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure()
      const bound = (error: Error | null) => (error === null ? resolve() : reject(error))
      plugin.#server.bindAsync(`unix://${plugin.socketPath}`, credentials, bound)
    })
    return plugin
  }

  /** Presents itself to the agent; fails with what the agent says. */
  async register(parts: { readonly version?: string; readonly resource?: string } = {}): Promise<void> {
    const { folder, endpoint = 'fake.sock', options } = this.#options
    const { version = 'v1beta1', resource = this.resource } = parts
    using channel = new GrpcChannel({ target: `unix://${folder}/kubelet.sock`, clock: systemClock })
    const request = { version, endpoint, resourceName: resource, options: toOptions(options) }
    const ask = async (signal: AbortSignal) => {
      await waitForReady(channel, signal)
      await channel.unary(register, request, {}, signal)
    }
    await withDeadline({ clock: systemClock, ms: PATIENCE_MS, what: 'registration' }, ask, new AbortController().signal)
  }

  /** From now on it has these. */
  setDevices(
    devices: readonly (Partial<Device> & { readonly id: string; readonly nodes?: readonly number[] })[],
  ): void {
    this.#devices = devices.map(({ id, health = 'Healthy', nodes = [] }) => ({
      ID: id,
      health,
      ...(nodes.length === 0 ? {} : { topology: { nodes: nodes.map((node) => ({ ID: BigInt(node) })) } }),
    }))
    for (const stream of this.#streams) stream.write({ devices: this.#devices })
  }

  /** Answers what hangs, and all that comes. */
  letGo(): void {
    this.hung.clear()
    for (const answer of this.#waiting.splice(0)) answer()
  }

  /** Ends it; its socket goes too. */
  [Symbol.dispose](): void {
    this.#server.forceShutdown()
    rmSync(this.socketPath, { force: true })
  }

  #implementation() {
    return {
      getDevicePluginOptions: (_: unknown, reply: sendUnaryData<DevicePluginOptions>) =>
        this.#answer('options', 'options', () => reply(null, toOptions(this.#options.options)), reply),
      listAndWatch: (stream: ServerWritableStream<object, ListAndWatchResponse>) => {
        this.asked.push('list')
        this.#streams.add(stream)
        stream.on('cancelled', () => this.#streams.delete(stream))
        stream.write({ devices: this.#devices })
      },
      allocate: (
        { request }: ServerUnaryCall<AllocateRequest, AllocateResponse>,
        reply: sendUnaryData<AllocateResponse>,
      ) => {
        const ids = request.containerRequests.flatMap(({ devicesIds }) => devicesIds).toSorted()
        const { allocation = (given) => ({ envs: { DEVICES: given.join(',') } }) } = this.#options
        const containerResponses = [ContainerAllocateResponse.create(allocation(ids))]
        this.#answer('allocate', `allocate ${ids.join(' ')}`, () => reply(null, { containerResponses }), reply)
      },
      preStartContainer: (
        { request }: ServerUnaryCall<PreStartContainerRequest, object>,
        reply: sendUnaryData<object>,
      ) =>
        this.#answer('preStart', `preStart ${request.devicesIds.toSorted().join(' ')}`, () => reply(null, {}), reply),
      getPreferredAllocation: (
        { request }: ServerUnaryCall<PreferredAllocationRequest, PreferredAllocationResponse>,
        reply: sendUnaryData<PreferredAllocationResponse>,
      ) => {
        const [desired] = request.containerRequests
        const about = [desired?.availableDeviceIDs, desired?.mustIncludeDeviceIDs]
          .map((ids) => ids?.join(','))
          .join(' ')
        const answer = () => reply(null, { containerResponses: [{ deviceIDs: this.preferred }] })
        this.#answer('prefer', `prefer ${desired?.allocationSize} of ${about}`.trim(), answer, reply)
      },
    }
  }

  #answer(method: Method, asked: string, answer: () => void, reply: sendUnaryData<never>): void {
    this.asked.push(asked)
    const failure = this.failing.get(method)
    if (failure !== undefined) reply({ code: status.UNKNOWN, details: failure })
    else if (this.hung.has(method)) this.#waiting.push(answer)
    else answer()
  }
}

function toOptions(options: Partial<DevicePluginOptions> = {}): DevicePluginOptions {
  return { preStartRequired: false, getPreferredAllocationAvailable: false, ...options }
}
