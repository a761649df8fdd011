import type {
  sendUnaryData,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { TokenBucket } from '../../base/async/token-bucket.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { toGrpcStatus } from './grpc-code.ts'
import type { GrpcCode } from './grpc-code.ts'
import { toGrpcMethod } from './grpc-method.ts'
import type { GeneratedService } from './grpc-method.ts'

/** One service of a server. */
export interface GrpcService {
  readonly definition: ServiceDefinition
  readonly implementation: UntypedServiceImplementation
}

/** The replies to one caller of a streaming method. */
interface ReplyStream<T> {
  /** False when the caller reads more slowly than that; then `onDrain` follows. */
  write(message: T): boolean
  onDrain(listener: () => void): void
  /** The caller left or the connection broke; may be reported more than once. */
  onEnd(listener: () => void): void
}

type Methods<S extends GeneratedService> = S['methods']
type Request<S extends GeneratedService, M extends keyof Methods<S>> = ReturnType<
  Methods<S>[M]['requestType']['decode']
>
type Reply<S extends GeneratedService, M extends keyof Methods<S>> = ReturnType<Methods<S>[M]['responseType']['decode']>

/** How each method of a service is answered: by a reply, or by writing to a stream until it ends. */
export type Answers<S extends GeneratedService> = {
  readonly [M in keyof Methods<S>]: Methods<S>[M]['responseStream'] extends true
    ? (stream: ReplyStream<Reply<S, M>>) => void
    : (request: Request<S, M>) => Reply<S, M> | Promise<Reply<S, M>>
}

/** Thrown by an answer: the caller gets this code. Every other error is Internal. */
export class CallRefusal extends Error {
  override readonly name = 'CallRefusal'
  readonly code: GrpcCode

  constructor(code: GrpcCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The service in the form that gRPC takes. Calls with one reply are rejected beyond the limit, streams are not counted. */
export function toGrpcService<S extends GeneratedService>(
  service: S,
  answers: Answers<S>,
  limit: Pick<TokenBucket, 'take'>,
): GrpcService {
  const definition = Object.entries(service.methods).map(([name, method]) => [
    name,
    toGrpcMethod(service.fullName, method),
  ])
  const implementation = Object.entries(service.methods).map(([name, { responseStream }]) => [
    name,
    responseStream ? toStreamHandler(answers[name] as never) : toUnaryHandler(answers[name] as never, limit),
  ])
  return { definition: Object.fromEntries(definition), implementation: Object.fromEntries(implementation) }
}

function toUnaryHandler(answer: (request: unknown) => unknown, limit: Pick<TokenBucket, 'take'>) {
  return (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>): void => {
    if (!limit.take()) {
      reply(toStatus(new CallRefusal('ResourceExhausted', 'rejected by rate limit')))
      return
    }
    Promise.try(answer, call.request).then(
      (message) => reply(null, message),
      (error: unknown) => reply(toStatus(error)),
    )
  }
}

function toStreamHandler(answer: (stream: ReplyStream<unknown>) => void) {
  return (call: ServerWritableStream<unknown, unknown>): void => {
    try {
      answer({
        write: (message) => call.write(message),
        onDrain: (listener) => void call.on('drain', listener),
        onEnd: (listener) => void call.on('cancelled', listener).on('close', listener).on('error', listener),
      })
    } catch (error) {
      call.emit('error', toStatus(error))
    }
  }
}

function toStatus(error: unknown): { readonly code: number; readonly details: string } {
  const code = error instanceof CallRefusal ? error.code : 'Internal'
  return { code: toGrpcStatus(code), details: errorMessage(error) }
}
