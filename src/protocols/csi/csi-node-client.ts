import type { Clock } from '../../base/async/clock.ts'
import { callGrpcDriver } from '../grpc/call-grpc-driver.ts'
import type { GrpcCallError } from '../grpc/grpc-call-error.ts'
import { GrpcChannel } from '../grpc/grpc-channel.ts'
import { toGrpcMethod } from '../grpc/grpc-method.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'
import { CsiCallError } from './csi-call-error.ts'
import { NodeDefinition } from './generated/csi-v1.ts'

type Methods = typeof NodeDefinition.methods
type Method = keyof Methods
type Request<M extends Method> = ReturnType<Methods[M]['requestType']['decode']>
type Response<M extends Method> = ReturnType<Methods[M]['responseType']['decode']>

export interface CsiNodeClientDeps {
  readonly driver: string
  readonly socketPath: string
  readonly clock: Clock
  readonly onCall: (call: DriverCall) => void
}

// As long as the Go kubelet gives them, for all calls alike.
const CALL_TIMEOUT_MS = 120_000

/** The node service of one driver. Each call has a connection of its own, so that a driver that started again is reached at once. */
export class CsiNodeClient {
  readonly #deps: CsiNodeClientDeps

  constructor(deps: CsiNodeClientDeps) {
    this.#deps = deps
  }

  async call<M extends Method>(
    name: M,
    request: Request<M>,
    signal: AbortSignal,
    { isMigrated }: Pick<DriverCall, 'isMigrated'> = {},
  ): Promise<Response<M>> {
    const { driver, socketPath, clock } = this.#deps
    const onCall = (call: DriverCall) => this.#deps.onCall({ ...call, ...(isMigrated === true && { isMigrated }) })
    const { fullName, methods } = NodeDefinition
    const method = toGrpcMethod<Request<M>, Response<M>>(fullName, methods[name] as never)
    using channel = new GrpcChannel({ target: `unix://${socketPath}`, clock })
    const toError = (error: GrpcCallError) =>
      new CsiCallError({ driver, method: error.method }, error, { cause: error.cause })
    const target = { driver, channel, timeoutMs: CALL_TIMEOUT_MS, clock, onCall }
    return await callGrpcDriver(target, { method, request, toError }, signal)
  }
}
