import { status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import type { TokenBucket } from '../../base/async/token-bucket.ts'
import { toGrpcMethod } from './grpc-method.ts'
import type { GrpcService } from './run-grpc-server.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

interface Codec {
  encode(message: never): { finish(): Uint8Array }
  decode(bytes: Uint8Array): unknown
}

interface GeneratedMethod {
  readonly name: string
  readonly requestType: Codec
  readonly requestStream: boolean
  readonly responseType: Codec
  readonly responseStream: boolean
}

/** A service as the generated code describes it. */
export interface GeneratedService {
  readonly fullName: string
  readonly methods: Readonly<Record<string, GeneratedMethod>>
}

type Message<C extends Codec> = ReturnType<C['decode']>

/** How each method of a service is answered: a reply, or writing to a stream until it ends. */
export type Answers<S extends GeneratedService> = {
  readonly [M in keyof S['methods']]: S['methods'][M]['responseStream'] extends true
    ? (
        stream: ServerWritableStream<Message<S['methods'][M]['requestType']>, Message<S['methods'][M]['responseType']>>,
      ) => void
    : (
        request: Message<S['methods'][M]['requestType']>,
      ) => Message<S['methods'][M]['responseType']> | Promise<Message<S['methods'][M]['responseType']>>
}

/** A request that is answered with a status of gRPC. */
export class CallRefusal extends Error {
  override readonly name = 'CallRefusal'
  readonly code: status

  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

/** The service in the form that gRPC takes. Calls with one reply beyond the limit are refused, streams are not counted. */
export function toGrpcService<S extends GeneratedService>(
  service: S,
  answers: Answers<S>,
  limit: Pick<TokenBucket, 'take'>,
): GrpcService {
  const definition = Object.entries(service.methods).map(([name, method]) => [
    name,
    toGrpcMethod(service.fullName, method as never),
  ])
  const implementation = Object.entries(service.methods).map(([name, { responseStream }]) => [
    name,
    responseStream ? answers[name] : toUnary(answers[name] as (request: unknown) => unknown, limit),
  ])
  return { definition: Object.fromEntries(definition), implementation: Object.fromEntries(implementation) }
}

function toUnary(answer: (request: unknown) => unknown, limit: Pick<TokenBucket, 'take'>) {
  return (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>): void => {
    if (!limit.take()) {
      reply({ code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit' })
      return
    }
    Promise.try(answer, call.request).then(
      (message) => reply(null, message),
      (error: unknown) => {
        const code = error instanceof CallRefusal ? error.code : status.INTERNAL
        reply({ code, details: errorMessage(error) })
      },
    )
  }
}
