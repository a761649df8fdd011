import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { toCriCallError } from '../../protocols/cri/cri-call-error.ts'
import { GrpcChannel } from '../../protocols/grpc/grpc-channel.ts'
import { toGrpcMethod } from '../../protocols/grpc/grpc-method.ts'
import { waitForReady } from '../../protocols/grpc/grpc-connection.ts'
import type { PluginDevice } from './device.ts'
import { DevicePluginDefinition } from './generated/device-plugin-v1beta1.ts'
import type {
  ContainerAllocateResponse,
  DevicePluginOptions,
  ListAndWatchResponse,
} from './generated/device-plugin-v1beta1.ts'

/** A device plugin did not do what it was asked. */
export class DevicePluginError extends Error {
  override readonly name = 'DevicePluginError'
  /** As users read it. */
  readonly detail: string
  /** It is not there, or did not answer in time: the same may work later. */
  readonly isAway: boolean

  constructor(message: string, detail: string, options: ErrorOptions & { readonly isAway: boolean }) {
    super(message, options)
    this.detail = detail
    this.isAway = options.isAway
  }
}

/** What can be asked of a device plugin. */
export interface DevicePluginCalls {
  readonly options: DevicePluginOptions
  /** What a container needs to use these devices. */
  allocate(ids: readonly string[], signal: AbortSignal): Promise<ContainerAllocateResponse>
  /** Each time before a container with these devices starts. */
  preStart(ids: readonly string[], signal: AbortSignal): Promise<void>
  /** Which of the available devices it would give. */
  prefer(
    request: { readonly available: readonly string[]; readonly fixed: readonly string[]; readonly count: number },
    signal: AbortSignal,
  ): Promise<readonly string[]>
}

const CONNECT_MS = 10_000
const OPTIONS_MS = 10_000
// The Go kubelet waits without end, and everybody with it; here one pod waits, and asks again.
const ALLOCATE_MS = 120_000
const PRE_START_MS = 30_000
// Only a wish: a pod does not wait long for it.
const PREFER_MS = 5000
const { fullName, methods } = DevicePluginDefinition
const METHODS = {
  options: toGrpcMethod(fullName, methods.getDevicePluginOptions),
  listAndWatch: toGrpcMethod(fullName, methods.listAndWatch),
  allocate: toGrpcMethod(fullName, methods.allocate),
  preStart: toGrpcMethod(fullName, methods.preStartContainer),
  prefer: toGrpcMethod(fullName, methods.getPreferredAllocation),
}

/** The connection to one device plugin, from its registration until it goes away. */
export class DevicePluginClient implements DevicePluginCalls, Disposable {
  readonly socketPath: string
  readonly options: DevicePluginOptions
  readonly #resource: string
  readonly #channel: GrpcChannel
  readonly #clock: Clock

  private constructor(target: Target, channel: GrpcChannel, options: DevicePluginOptions) {
    this.socketPath = target.socketPath
    this.options = options
    this.#resource = target.resource
    this.#channel = channel
    this.#clock = target.clock
  }

  /** Connects and asks the plugin how it wants to be treated. */
  static async connect(target: Target, signal: AbortSignal): Promise<DevicePluginClient> {
    const { resource, socketPath, clock } = target
    const channel = new GrpcChannel({ socketPath })
    const within = <T>(ms: number, what: string, work: (s: AbortSignal) => Promise<T>) =>
      withDeadline({ clock, ms, what: `${what} of device plugin "${resource}"` }, work, signal)
    try {
      await within(CONNECT_MS, 'the connection', (s) => waitForReady(channel, s))
      const options = await within(OPTIONS_MS, 'GetDevicePluginOptions', (s) =>
        channel.unary(METHODS.options, {}, {}, s),
      )
      return new DevicePluginClient(target, channel, options)
    } catch (error) {
      channel.close()
      throw error
    }
  }

  /** All its devices, again whenever one of them changes; ends when the plugin does. */
  async *devices(signal: AbortSignal): AsyncGenerator<readonly PluginDevice[], void> {
    for await (const reply of this.#channel.stream(METHODS.listAndWatch, {}, {}, signal)) yield toDevices(reply)
  }

  async allocate(ids: readonly string[], signal: AbortSignal): Promise<ContainerAllocateResponse> {
    const request = { containerRequests: [{ devicesIds: ids }] }
    const { containerResponses } = await this.#call(
      { name: 'Allocate', ms: ALLOCATE_MS },
      (s) => this.#channel.unary(METHODS.allocate, request, {}, s),
      signal,
    )
    const [response] = containerResponses
    if (response !== undefined) return response
    const detail = 'no containers return in allocation response'
    throw new DevicePluginError(`Cannot use the answer of device plugin "${this.#resource}": ${detail}`, detail, {
      isAway: false,
    })
  }

  async preStart(ids: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#call(
      { name: 'PreStartContainer', ms: PRE_START_MS },
      (s) => this.#channel.unary(METHODS.preStart, { devicesIds: ids }, {}, s),
      signal,
    )
  }

  async prefer(
    {
      available,
      fixed,
      count,
    }: { readonly available: readonly string[]; readonly fixed: readonly string[]; readonly count: number },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const request = {
      containerRequests: [{ availableDeviceIDs: available, mustIncludeDeviceIDs: fixed, allocationSize: count }],
    }
    const { containerResponses } = await this.#call(
      { name: 'GetPreferredAllocation', ms: PREFER_MS },
      (s) => this.#channel.unary(METHODS.prefer, request, {}, s),
      signal,
    )
    return containerResponses[0]?.deviceIDs ?? []
  }

  async #call<T>(
    { name, ms }: { readonly name: string; readonly ms: number },
    ask: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const what = `${name} of device plugin "${this.#resource}"`
    try {
      return await withDeadline({ clock: this.#clock, ms, what }, ask, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw toPluginError(this.#resource, name, error)
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close()
  }
}

interface Target {
  readonly resource: string
  readonly socketPath: string
  readonly clock: Clock
}

function toDevices({ devices }: ListAndWatchResponse): readonly PluginDevice[] {
  return devices.map(({ ID: id, health, topology }) => ({
    id,
    isHealthy: health === 'Healthy',
    nodes: (topology?.nodes ?? []).map(({ ID: node }) => Number(node)),
  }))
}

/** In the words of Go's gRPC, which people look for. */
function toPluginError(resource: string, method: string, error: unknown): DevicePluginError {
  const { code, detail, retryable } = toCriCallError(method, error)
  const isLate = error instanceof DeadlineError
  const words = isLate ? `no answer to ${method}` : `rpc error: code = ${code} desc = ${detail}`
  const message = `Cannot call "${method}" of device plugin "${resource}": ${words}`
  return new DevicePluginError(message, words, { cause: error, isAway: isLate || retryable })
}
