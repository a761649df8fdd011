import { formatTraceparent } from '../../base/telemetry/trace-context.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'
import { computeCallDeadline } from './compute-call-deadline.ts'
import { CriCallError, toCriCallError } from './cri-call-error.ts'
import { findReplyFault } from './find-reply-fault.ts'
import type { CallChannel, CallOptions } from '../grpc/grpc-channel.ts'
import { toGrpcMethod } from '../grpc/grpc-method.ts'
import type { GrpcMethod } from '../grpc/grpc-method.ts'
import type { CriCalls } from './cri-calls.ts'
import type { CriMethod, criServices } from './cri-methods.ts'

/** What is the same for all calls. */
export interface CriCallSettings {
  readonly requestTimeoutMs: number
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined
}

interface Call {
  readonly name: CriMethod
  readonly method: GrpcMethod<object, object>
  readonly channel: CallChannel
  readonly settings: CriCallSettings
}

type Service = (typeof criServices)[keyof typeof criServices]

// A stop has reached its goal when its object is gone.
const NOT_FOUND_IS_SUCCESS: ReadonlySet<CriMethod> = new Set(['stopContainer', 'stopPodSandbox'])

/** The calls of one service, over one channel. CriCalls has the type of each call; in here all are alike. */
export function bindCalls<S extends Service>(
  service: S,
  channel: CallChannel,
  settings: CriCallSettings,
): Pick<CriCalls, keyof S['methods'] & CriMethod> {
  const calls = Object.entries(service.methods).map(([name, generated]) => {
    const method = toGrpcMethod<never, never>(service.fullName, generated) as unknown as Call['method']
    const call: Call = { name: name as CriMethod, method, channel, settings }
    const invoke = generated.responseStream ? callStream : callUnary
    const complete = generated.requestType.fromPartial as (partial: object) => object
    return [name, (partial: object, signal: AbortSignal) => invoke(call, complete(partial), signal)]
  })
  return Object.fromEntries(calls) as Pick<CriCalls, keyof S['methods'] & CriMethod>
}

async function callUnary(call: Call, request: object, signal: AbortSignal): Promise<object> {
  try {
    const prepared = prepareRequest(call, request)
    const timeoutMs = timeoutOf(call, prepared)
    const invoke = (options: CallOptions) =>
      call.channel.unary(call.method, prepared, { ...options, timeoutMs }, signal)
    const reply = await traced(call, invoke)
    const fault = findReplyFault(call.name, reply as never)
    if (fault !== undefined) throw new CriCallError(call.name, 'InvalidReply', fault)
    return reply
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const failure = toCriCallError(call.name, error)
    if (failure.code === 'NotFound' && NOT_FOUND_IS_SUCCESS.has(call.name)) return {}
    throw failure
  }
}

async function* callStream(call: Call, request: object, signal: AbortSignal): AsyncGenerator<object, void> {
  try {
    yield* call.channel.stream(call.method, request, { timeoutMs: timeoutOf(call, request) }, signal)
  } catch (error) {
    throw signal.aborted ? signal.reason : toCriCallError(call.name, error)
  }
}

/** Sends the span of the call along, so that what the runtime does for it is shown below it. */
function traced(call: Call, invoke: (options: CallOptions) => Promise<object>): Promise<object> {
  const { tracer } = call.settings
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
  const least = BigInt(Math.ceil(call.settings.requestTimeoutMs / 1000))
  return { ...request, timeout: timeout < least ? least : timeout }
}

function timeoutOf({ name, settings }: Call, request: object): number | undefined {
  const ms = computeCallDeadline(name, request as never, settings.requestTimeoutMs)
  return ms === 'none' ? undefined : ms
}
