import type { MethodDefinition } from '@grpc/grpc-js'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { DriverCall } from '../../metrics/driver-call.ts'
import type { GrpcChannel } from './grpc-channel.ts'
import { toGrpcFailure } from './grpc-code.ts'
import type { GrpcCode } from './grpc-code.ts'

/** Whom to call, and how long that may take. */
export interface DriverTarget {
  readonly driver: string
  /** What people know it as, such as "CSI driver". */
  readonly kind: string
  readonly channel: GrpcChannel
  readonly ms: number
  readonly clock: Clock
  readonly onCall: (call: DriverCall) => void
}

/** A driver did not do what it was asked for. */
export interface DriverFailure {
  /** Without its service. */
  readonly method: string
  readonly code: GrpcCode
  readonly detail: string
  readonly cause: unknown
}

/** One call of a driver with a time limit, told when it ends. What it fails with is made by `toError`, but for our own cancel: that is the signal's reason. */
export async function callDriver<Q, A>(
  { driver, kind, channel, ms, clock, onCall }: DriverTarget,
  { method, request, toError }: Call<Q, A>,
  signal: AbortSignal,
): Promise<A> {
  const name = method.path.slice(method.path.lastIndexOf('/') + 1)
  const startedAt = clock.monotonic()
  const end = (code: GrpcCode) =>
    onCall({ driver, method: method.path, code, seconds: (clock.monotonic() - startedAt) / 1000 })
  try {
    const ask = (s: AbortSignal) => channel.unary(method, request, {}, s)
    const reply = await withDeadline({ clock, ms, what: `${name} of ${kind} "${driver}"` }, ask, signal)
    end('Ok')
    return reply
  } catch (error) {
    if (signal.aborted) {
      end('Cancelled')
      throw signal.reason
    }
    const failure =
      error instanceof DeadlineError
        ? ({ code: 'DeadlineExceeded', detail: `no answer after ${ms / 1000} s` } as const)
        : toGrpcFailure(error)
    end(failure.code)
    throw toError({ method: name, ...failure, cause: error })
  }
}

interface Call<Q, A> {
  readonly method: MethodDefinition<Q, A>
  readonly request: Q
  readonly toError: (failure: DriverFailure) => Error
}
