import type { MethodDefinition } from '@grpc/grpc-js'

interface Codec<T> {
  encode(message: T): { finish(): Uint8Array }
  decode(bytes: Uint8Array): T
}

interface GeneratedMethod<Request, Response> {
  readonly name: string
  readonly requestType: Codec<Request>
  readonly requestStream: boolean
  readonly responseType: Codec<Response>
  readonly responseStream: boolean
}

/** A service as the generated code describes it, whatever its messages. */
export interface GeneratedService {
  readonly fullName: string
  readonly methods: Readonly<Record<string, GeneratedMethod<unknown, unknown>>>
}

/** One method of a service: its path, and how its messages are written and read. */
export type GrpcMethod<Request, Response> = MethodDefinition<Request, Response>

/** A generated method in the form that gRPC takes, for clients and servers alike. */
export function toGrpcMethod<Request, Response>(
  serviceName: string,
  method: GeneratedMethod<Request, Response>,
): GrpcMethod<Request, Response> {
  return {
    path: `/${serviceName}/${method.name}`,
    requestStream: method.requestStream,
    responseStream: method.responseStream,
    requestSerialize: serializer(method.requestType),
    requestDeserialize: deserializer(method.requestType),
    responseSerialize: serializer(method.responseType),
    responseDeserialize: deserializer(method.responseType),
  }
}

function serializer<T>(codec: Codec<T>): (message: T) => Buffer {
  return (message) => {
    const bytes = codec.encode(message).finish()
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
}

function deserializer<T>(codec: Codec<T>): (bytes: Buffer) => T {
  // A plain view, so that `bytes` fields are Uint8Array and not Buffer: the two print and compare differently.
  return (bytes) => codec.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}
