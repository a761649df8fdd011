import type { MethodDefinition } from '@grpc/grpc-js'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { formatTraceparent } from '../../base/telemetry/trace-context.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'
import { computeCallDeadline } from './compute-call-deadline.ts'
import { CriCallError, toCriCallError } from './cri-call-error.ts'
import { findReplyFault } from './find-reply-fault.ts'
import { toGrpcMethod } from '../grpc/grpc-method.ts'
import type { CriCalls } from './cri-calls.ts'
import type { criServices, CriMethod } from './cri-methods.ts'
import type { CallHeaders, GrpcChannel } from '../grpc/grpc-channel.ts'

/** What a call needs besides its request. */
export interface CallOptions {
  readonly requestTimeoutMs: number
  readonly clock: Clock
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined
}

interface Call {
  readonly name: CriMethod
  readonly method: MethodDefinition<object, object>
  readonly channel: GrpcChannel
  readonly options: CallOptions
}

type Service = (typeof criServices)[keyof typeof criServices]

// What a stop wants is that the thing does not run: of what is gone that is true.
const NOT_FOUND_IS_SUCCESS: ReadonlySet<CriMethod> = new Set(['stopContainer', 'stopPodSandbox'])

/** The calls of one service, over one channel. The types are told apart in CriCalls; in here all calls are alike. */
export function bindCalls<S extends Service>(
  service: S,
  channel: GrpcChannel,
  options: CallOptions,
): Pick<CriCalls, keyof S['methods'] & CriMethod> {
  const calls = Object.entries(service.methods).map(([name, generated]) => {
    const method = toGrpcMethod<never, never>(service.fullName, generated) as unknown as Call['method']
    const call: Call = { name: name as CriMethod, method, channel, options }
    const invoke = generated.responseStream ? callStream : callUnary
    const complete = generated.requestType.fromPartial as (partial: object) => object
    return [name, (partial: object, signal: AbortSignal) => invoke(call, complete(partial), signal)]
  })
  return Object.fromEntries(calls) as Pick<CriCalls, keyof S['methods'] & CriMethod>
}

async function callUnary(call: Call, request: object, signal: AbortSignal): Promise<object> {
  using scope = new AbortScope(signal)
  try {
    const prepared = prepareRequest(call, request)
    armDeadline(call, prepared, scope)
    const reply = await traced(call, (headers) => call.channel.unary(call.method, prepared, headers, scope.signal))
    const fault = findReplyFault(call.name, reply as never)
    if (fault !== undefined) throw new CriCallError(call.name, 'InvalidReply', fault)
    return reply
  } catch (error) {
    const failure = toFailure(call, error, signal)
    if (failure.code === 'NotFound' && NOT_FOUND_IS_SUCCESS.has(call.name)) return {}
    throw failure
  }
}

async function* callStream(call: Call, request: object, signal: AbortSignal): AsyncGenerator<object, void> {
  using scope = new AbortScope(signal)
  try {
    armDeadline(call, request, scope)
    yield* call.channel.stream(call.method, request, {}, scope.signal)
  } catch (error) {
    throw toFailure(call, error, signal)
  }
}

/** The runtime is told to which span a call belongs, so that what it does itself is seen below it. */
function traced(call: Call, invoke: (headers: CallHeaders) => Promise<object>): Promise<object> {
  const { tracer } = call.options
  if (tracer === undefined) return invoke({})
  const name = call.method.path.slice(1)
  const [service = '', method = ''] = name.split('/')
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method }
  return tracer.span(name, { kind: 'client', attributes }, ({ context }) =>
    invoke(context === undefined ? {} : { headers: { traceparent: formatTraceparent(context) } }),
  )
}

/** The runtime gets at least the request timeout for a checkpoint, which writes the container's whole memory. */
function prepareRequest(call: Call, request: object): object {
  if (call.name !== 'checkpointContainer') return request
  const { timeout } = request as { timeout: bigint }
  if (timeout < 0n) throw new CriCallError(call.name, 'InvalidArgument', `timeout is ${timeout}, expected 0 or more`)
  const least = BigInt(Math.ceil(call.options.requestTimeoutMs / 1000))
  return { ...request, timeout: timeout < least ? least : timeout }
}

/** The deadline runs on our clock instead of gRPC's, and cancels the call like any abort. It ends with the scope. */
function armDeadline({ name, options }: Call, request: object, scope: AbortScope): void {
  const ms = computeCallDeadline(name, request as never, options.requestTimeoutMs)
  if (ms === 'none') return
  options.clock.sleep(ms, scope.signal).then(
    () => scope.abort(new DeadlineError(`no answer after ${ms} ms`)),
    () => {},
  )
}

/** Our own abort passes through as the signal's reason; everything else is an error of the call. */
function toFailure(call: Call, error: unknown, signal: AbortSignal): CriCallError {
  if (signal.aborted) throw signal.reason
  if (error instanceof DeadlineError) {
    return new CriCallError(call.name, 'DeadlineExceeded', error.message, { cause: error })
  }
  return toCriCallError(call.name, error)
}
