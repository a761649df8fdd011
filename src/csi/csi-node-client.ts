import { DeadlineError } from '../async/abort-errors.ts'
import type { Clock } from '../async/clock.ts'
import { withDeadline } from '../async/deadline.ts'
import { GrpcChannel } from '../cri/grpc-channel.ts'
import { toGrpcFailure } from '../cri/grpc-code.ts'
import type { GrpcCode } from '../cri/grpc-code.ts'
import { toGrpcMethod } from '../cri/grpc-method.ts'
import { CsiCallError } from './csi-call-error.ts'
import { NodeDefinition } from './generated/csi-v1.ts'

type Methods = typeof NodeDefinition.methods
type Method = keyof Methods
type Request<M extends Method> = ReturnType<Methods[M]['requestType']['decode']>
type Response<M extends Method> = ReturnType<Methods[M]['responseType']['decode']>

/** A call that ended, for those who count. */
export interface CsiCall {
  readonly driver: string
  /** With its service, as in "/csi.v1.Node/NodeGetInfo". */
  readonly method: string
  readonly code: GrpcCode
  readonly seconds: number
}

export interface CsiNodeClientDeps {
  readonly driver: string
  readonly socketPath: string
  readonly clock: Clock
  readonly onCall: (call: CsiCall) => void
}

// As long as the Go kubelet gives them, for all calls alike.
const CALL_MS = 120_000

/** The node service of one driver. Each call has a connection of its own: a driver that was begun anew is reached at once. */
export class CsiNodeClient {
  readonly #deps: CsiNodeClientDeps

  constructor(deps: CsiNodeClientDeps) {
    this.#deps = deps
  }

  async call<M extends Method>(name: M, request: Request<M>, signal: AbortSignal): Promise<Response<M>> {
    const { driver, socketPath, clock, onCall } = this.#deps
    const { fullName, methods } = NodeDefinition
    const method = toGrpcMethod<Request<M>, Response<M>>(fullName, methods[name] as never)
    const startedAt = clock.monotonic()
    const end = (code: GrpcCode) =>
      onCall({ driver, method: method.path, code, seconds: (clock.monotonic() - startedAt) / 1000 })
    using channel = new GrpcChannel({ socketPath, bare: false })
    try {
      const reply = await withDeadline(
        { clock, ms: CALL_MS, what: `${methods[name].name} of CSI driver "${driver}"` },
        (s) => channel.unary(method, request, {}, s),
        signal,
      )
      end('Ok')
      return reply
    } catch (error) {
      if (signal.aborted) {
        end('Cancelled')
        throw signal.reason
      }
      const failure = toFailure(error)
      end(failure.code)
      throw new CsiCallError({ driver, method: methods[name].name }, failure, { cause: error })
    }
  }
}

function toFailure(error: unknown): { readonly code: GrpcCode; readonly detail: string } {
  if (error instanceof DeadlineError) return { code: 'DeadlineExceeded', detail: `no answer after ${CALL_MS} ms` }
  return toGrpcFailure(error)
}
