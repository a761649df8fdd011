import { DeadlineError } from '../../base/async/abort-errors.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { GrpcCallError } from '../../protocols/grpc/grpc-call-error.ts'
import { GrpcChannel } from '../../protocols/grpc/grpc-channel.ts'
import { toGrpcMethod } from '../../protocols/grpc/grpc-method.ts'
import type { GrpcMethod } from '../../protocols/grpc/grpc-method.ts'
import { waitForReady } from '../../protocols/grpc/grpc-connection.ts'
import type { PluginDevice } from './device.ts'
import { DevicePluginDefinition } from './generated/device-plugin-v1beta1.ts'
import type {
  ContainerAllocateResponse,
  DevicePluginOptions,
  ListAndWatchResponse,
} from './generated/device-plugin-v1beta1.ts'

/** A call to a device plugin that failed; the detail is in the words of Go's gRPC, which people search for. */
export class DevicePluginError extends GrpcCallError {
  override readonly name = 'DevicePluginError'

  /** It is not there, or did not answer in time: the same may work later. */
  get isAway(): boolean {
    return this.retryable
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
// The Go kubelet waits without a limit, and every other pod with it; here one pod waits, and asks again.
const ALLOCATE_MS = 120_000
const PRE_START_MS = 30_000
// Only a preference: a pod does not wait long for it.
const PREFER_MS = 5000
const { fullName, methods } = DevicePluginDefinition
const METHODS = {
  options: toGrpcMethod(fullName, methods.getDevicePluginOptions),
  listAndWatch: toGrpcMethod(fullName, methods.listAndWatch),
  allocate: toGrpcMethod(fullName, methods.allocate),
  preStart: toGrpcMethod(fullName, methods.preStartContainer),
  prefer: toGrpcMethod(fullName, methods.getPreferredAllocation),
}

/** What the plugin reads when its registration fails, in the words of Go's gRPC. */
const refuse = (what: string) => (error: unknown) => {
  const why = error instanceof GrpcCallError ? toPluginError('', error).detail : errorMessage(error)
  throw new Error(`${what}: ${why}`, { cause: error })
}

/** The connection to one device plugin, from its registration until it goes away. */
export class DevicePluginClient implements DevicePluginCalls, Disposable {
  readonly socketPath: string
  readonly options: DevicePluginOptions
  readonly #resource: string
  readonly #channel: GrpcChannel

  private constructor(target: Target, channel: GrpcChannel, options: DevicePluginOptions) {
    this.socketPath = target.socketPath
    this.options = options
    this.#resource = target.resource
    this.#channel = channel
  }

  /** Connects and asks the plugin how it wants to be treated. */
  static async connect(target: Target, signal: AbortSignal): Promise<DevicePluginClient> {
    const { resource, socketPath, clock } = target
    const channel = new GrpcChannel({ target: `unix://${socketPath}`, clock })
    try {
      const limit = { clock, ms: CONNECT_MS, what: `the connection of device plugin "${resource}"` }
      await withDeadline(limit, (s) => waitForReady(channel, s), signal).catch(refuse('failed to dial device plugin'))
      const options = await channel
        .unary(METHODS.options, {}, { timeoutMs: OPTIONS_MS }, signal)
        .catch(refuse('failed to get device plugin options'))
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
      { method: METHODS.allocate, timeoutMs: ALLOCATE_MS },
      request,
      signal,
    )
    const [response] = containerResponses
    if (response !== undefined) return response
    const detail = 'no containers return in allocation response'
    const message = `Cannot use the answer of device plugin "${this.#resource}": ${detail}`
    throw new DevicePluginError({ method: 'Allocate', code: 'InvalidReply', detail }, undefined, message)
  }

  async preStart(ids: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#call({ method: METHODS.preStart, timeoutMs: PRE_START_MS }, { devicesIds: ids }, signal)
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
    const { containerResponses } = await this.#call({ method: METHODS.prefer, timeoutMs: PREFER_MS }, request, signal)
    return containerResponses[0]?.deviceIDs ?? []
  }

  async #call<Q, A>(
    { method, timeoutMs }: { readonly method: GrpcMethod<Q, A>; readonly timeoutMs: number },
    request: Q,
    signal: AbortSignal,
  ): Promise<A> {
    try {
      return await this.#channel.unary(method, request, { timeoutMs }, signal)
    } catch (error) {
      throw error instanceof GrpcCallError ? toPluginError(this.#resource, error) : error
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

function toPluginError(resource: string, { method, code, detail, cause }: GrpcCallError): DevicePluginError {
  const isLate = cause instanceof DeadlineError
  const words = isLate ? `no answer to ${method}` : `rpc error: code = ${code} desc = ${detail}`
  const message = `Cannot call "${method}" of device plugin "${resource}": ${words}`
  return new DevicePluginError({ method, code, detail: words }, { cause }, message)
}
