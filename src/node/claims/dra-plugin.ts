import type { Clock } from '../../base/async/clock.ts'
import { callDriver } from '../../protocols/grpc/call-driver.ts'
import type { DriverFailure } from '../../protocols/grpc/call-driver.ts'
import { GrpcChannel } from '../../protocols/grpc/grpc-channel.ts'
import { toGrpcFailure } from '../../protocols/grpc/grpc-code.ts'
import type { GrpcCode } from '../../protocols/grpc/grpc-code.ts'
import { toGrpcMethod } from '../../protocols/grpc/grpc-method.ts'
import type { GrpcConnection } from '../../protocols/grpc/grpc-connection.ts'
import type { DriverCall } from '../../metrics/driver-call.ts'
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

type GrpcMethod<Q, A> = ReturnType<typeof toGrpcMethod<Q, A>>

// The name by which a plugin offers a version, and the package in which it serves it. What is on the wire is the same in both.
const PACKAGES = {
  'v1.DRAPlugin': DRAPluginDefinition.fullName,
  'v1beta1.DRAPlugin': DRAPluginDefinition.fullName.replace('.v1.', '.v1beta1.'),
} as const

/** A version of the API between a driver and the node. */
export type DraVersion = keyof typeof PACKAGES

export const DRA_VERSIONS = Object.keys(PACKAGES) as readonly DraVersion[]

// Half of what a pod's next try would wait for, so that a hung call is over by then.
const CALL_MS = 45_000
const watchResources = toGrpcMethod(
  DRAResourceHealthDefinition.fullName,
  DRAResourceHealthDefinition.methods.nodeWatchResources,
)

/** A driver did not do what it was asked for. */
export class DraCallError extends Error {
  override readonly name = 'DraCallError'
  readonly code: GrpcCode

  constructor(method: string, code: GrpcCode, detail: string, options?: ErrorOptions) {
    super(`${method}: ${code}: ${detail}`, options)
    this.code = code
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
    this.#channel = new GrpcChannel({ socketPath: endpoint })
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

  /** How its devices are, each time that changes or is confirmed. Fails with a DraCallError. */
  async *watchHealth(signal: AbortSignal): AsyncGenerator<NodeWatchResourcesResponse, void> {
    try {
      yield* this.#channel.stream(watchResources, {}, {}, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const { code, detail } = toGrpcFailure(error)
      throw new DraCallError(DRAResourceHealthDefinition.methods.nodeWatchResources.name, code, detail, {
        cause: error,
      })
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close()
  }

  async #call<Q, A>(method: GrpcMethod<Q, A>, request: Q, signal: AbortSignal): Promise<A> {
    const target = { ...this.#deps, driver: this.driver, kind: 'driver', channel: this.#channel, ms: CALL_MS }
    const toError = ({ method: name, code, detail, cause }: DriverFailure) =>
      new DraCallError(name, code, detail, { cause })
    return await callDriver(target, { method, request, toError }, signal)
  }
}
