import type { Clock } from '../../base/async/clock.ts'
import { GrpcChannel } from '../grpc/grpc-channel.ts'
import { toGrpcMethod } from '../grpc/grpc-method.ts'
import { TraceServiceDefinition } from './generated/otlp-trace.ts'
import type { ExportTraceServiceRequest, ExportTraceServiceResponse } from './generated/otlp-trace.ts'

const exportTraces = toGrpcMethod(TraceServiceDefinition.fullName, TraceServiceDefinition.methods.export)

/** The connection to a collector: without encryption, as the configuration has no field for any. */
export class OtlpClient implements Disposable {
  readonly #channel: GrpcChannel

  /** As in "host:4317", "dns:host:4317", "unix:/path" or "unix-abstract:name". */
  constructor(endpoint: string, clock: Clock) {
    // Names without a file begin with a zero byte.
    this.#channel = new GrpcChannel({ target: endpoint.replace(/^unix-abstract:/i, 'unix:\0'), clock })
  }

  send(request: ExportTraceServiceRequest, signal: AbortSignal): Promise<ExportTraceServiceResponse> {
    return this.#channel.unary(exportTraces, request, {}, signal)
  }

  [Symbol.dispose](): void {
    this.#channel.close()
  }
}
