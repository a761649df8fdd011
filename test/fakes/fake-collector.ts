import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import { TraceServiceDefinition } from '../../src/protocols/tracing/generated/otlp-trace.ts'
import type {
  ExportTraceServiceRequest,
  ExportTraceServiceResponse,
  KeyValue,
  Span,
} from '../../src/protocols/tracing/generated/otlp-trace.ts'

const { fullName, methods } = TraceServiceDefinition

/** A collector of traces behind real gRPC. */
export class FakeCollector implements Disposable {
  readonly requests: ExportTraceServiceRequest[] = []
  readonly #server = new Server()
  #endpoint = ''
  isBroken = false
  rejected = 0n

  private constructor() {
    this.#server.addService(
      { export: toGrpcMethod(fullName, methods.export) },
      {
        export: (
          call: ServerUnaryCall<ExportTraceServiceRequest, ExportTraceServiceResponse>,
          reply: sendUnaryData<ExportTraceServiceResponse>,
        ) => {
          if (this.isBroken) return reply({ code: status.UNAVAILABLE, details: 'broken' })
          this.requests.push(call.request)
          reply(null, { partialSuccess: { rejectedSpans: this.rejected, errorMessage: '' } })
        },
      },
    )
  }

  /** At an address of the loopback, or at another one. */
  static async start(address = '127.0.0.1:0'): Promise<FakeCollector> {
    const collector = new FakeCollector()
    const port = await new Promise<number>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure()
      collector.#server.bindAsync(address, credentials, (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      )
    })
    collector.#endpoint = `127.0.0.1:${port}`
    return collector
  }

  get endpoint(): string {
    return this.#endpoint
  }

  get spans(): readonly Span[] {
    return this.requests.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    )
  }

  [Symbol.dispose](): void {
    this.#server.forceShutdown()
  }
}

/** Attributes as a plain object. */
export function toAttributes(pairs: readonly KeyValue[]): Readonly<Record<string, string | number>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value?.stringValue ?? Number(value?.intValue)]))
}
