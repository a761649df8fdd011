import type { Clock } from '../../base/async/clock.ts'
import { callGrpcDriver } from '../../protocols/grpc/call-grpc-driver.ts'
import { GrpcCallError } from '../../protocols/grpc/grpc-call-error.ts'
import { GrpcChannel } from '../../protocols/grpc/grpc-channel.ts'
import type { GrpcMethod } from '../../protocols/grpc/grpc-method.ts'
import { toGrpcMethod } from '../../protocols/grpc/grpc-method.ts'
import type { GrpcConnection } from '../../protocols/grpc/grpc-connection.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'
import { DRAResourceHealthDefinition } from './generated/dra-health-v1alpha1.ts'
import type { NodeWatchResourcesResponse } from './generated/dra-health-v1alpha1.ts'
import { DRAPluginDefinition } from './generated/dra-v1.ts'
import type { Claim, NodePrepareResourceResponse, NodeUnprepareResourceResponse } from './generated/dra-v1.ts'

export interface DraPluginDeps {
  readonly clock: Clock
  readonly onCall: (call: DriverCall) => void
}

/** Where a driver serves, and which version of its API. */
export interface DraEndpoint {
  readonly driver: string
  readonly endpoint: string
  readonly version: DraVersion
}

// The name by which a plugin offers a version, and the package in which it serves it. What is on the wire is the same in both.
const PACKAGES = {
  'v1.DRAPlugin': DRAPluginDefinition.fullName,
  'v1beta1.DRAPlugin': DRAPluginDefinition.fullName.replace('.v1.', '.v1beta1.'),
} as const

/** A version of the API between a driver and the node. */
export type DraVersion = keyof typeof PACKAGES

export const DRA_VERSIONS = Object.keys(PACKAGES) as readonly DraVersion[]

// Half of what a pod's next try would wait for, so that a hung call has ended by then.
const CALL_TIMEOUT_MS = 45_000
const watchResources = toGrpcMethod(
  DRAResourceHealthDefinition.fullName,
  DRAResourceHealthDefinition.methods.nodeWatchResources,
)

/** A call to a driver that failed. */
export class DraCallError extends GrpcCallError {
  override readonly name = 'DraCallError'

  constructor(failure: GrpcCallError) {
    const { method, code, detail, cause } = failure
    super(failure, { cause }, `${method}: ${code}: ${detail}`)
  }
}

/** One plugin of a driver: the connection to it, and its calls. */
export class DraPlugin implements GrpcConnection, Disposable {
  readonly driver: string
  readonly endpoint: string
  readonly #deps: DraPluginDeps
  readonly #package: string
  readonly #channel: GrpcChannel

  constructor(deps: DraPluginDeps, { driver, endpoint, version }: DraEndpoint) {
    this.driver = driver
    this.endpoint = endpoint
    this.#deps = deps
    this.#package = PACKAGES[version]
    this.#channel = new GrpcChannel({ target: `unix://${endpoint}`, clock: deps.clock })
  }

  get connected(): boolean {
    return this.#channel.connected
  }

  get closed(): boolean {
    return this.#channel.closed
  }

  nextChange(signal: AbortSignal): Promise<void> {
    return this.#channel.nextChange(signal)
  }

  /** By the UID of the claim. Fails with a DraCallError when no answer came at all. */
  async prepare(
    claims: readonly Claim[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, NodePrepareResourceResponse>> {
    const method = toGrpcMethod(this.#package, DRAPluginDefinition.methods.nodePrepareResources)
    return new Map(Object.entries((await this.#call(method, { claims }, signal)).claims))
  }

  async unprepare(
    claims: readonly Claim[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, NodeUnprepareResourceResponse>> {
    const method = toGrpcMethod(this.#package, DRAPluginDefinition.methods.nodeUnprepareResources)
    return new Map(Object.entries((await this.#call(method, { claims }, signal)).claims))
  }

  /** The health of its devices, each time that it changes or is confirmed. Fails with a DraCallError. */
  async *watchHealth(signal: AbortSignal): AsyncGenerator<NodeWatchResourcesResponse, void> {
    try {
      yield* this.#channel.stream(watchResources, {}, {}, signal)
    } catch (error) {
      throw error instanceof GrpcCallError ? new DraCallError(error) : error
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close()
  }

  async #call<Q, A>(method: GrpcMethod<Q, A>, request: Q, signal: AbortSignal): Promise<A> {
    const target = { ...this.#deps, driver: this.driver, channel: this.#channel, timeoutMs: CALL_TIMEOUT_MS }
    return await callGrpcDriver(target, { method, request, toError: (error) => new DraCallError(error) }, signal)
  }
}
