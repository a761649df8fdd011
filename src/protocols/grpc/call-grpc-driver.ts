import type { Clock } from '../../base/async/clock.ts'
import type { DriverCall } from '../../metrics/driver-metrics.ts'
import { GrpcCallError } from './grpc-call-error.ts'
import type { GrpcChannel } from './grpc-channel.ts'
import type { GrpcMethod } from './grpc-method.ts'

/** Which driver to call, how long that may take, and where the end of the call is counted. */
export interface DriverTarget {
  readonly driver: string
  readonly channel: GrpcChannel
  readonly timeoutMs: number
  readonly clock: Clock
  readonly onCall: (call: DriverCall) => void
}

interface Call<Q, A> {
  readonly method: GrpcMethod<Q, A>
  readonly request: Q
  readonly toError: (error: GrpcCallError) => Error
}

/** One call of a driver with a time limit, counted when it ends. `toError` makes what it fails with, except for our own cancel. */
export async function callGrpcDriver<Q, A>(
  { driver, channel, timeoutMs, clock, onCall }: DriverTarget,
  { method, request, toError }: Call<Q, A>,
  signal: AbortSignal,
): Promise<A> {
  const startedAt = clock.monotonic()
  const end = (code: string) =>
    onCall({ driver, method: method.path, code, seconds: (clock.monotonic() - startedAt) / 1000 })
  try {
    const reply = await channel.unary(method, request, { timeoutMs }, signal)
    end('Ok')
    return reply
  } catch (error) {
    const isFailure = error instanceof GrpcCallError
    end(isFailure ? error.code : 'Cancelled')
    throw isFailure ? toError(error) : error
  }
}
