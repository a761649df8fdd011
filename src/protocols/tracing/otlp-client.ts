import { Client, credentials } from '@grpc/grpc-js'
import { toGrpcMethod } from '../grpc/grpc-method.ts'
import { TraceServiceDefinition } from './generated/otlp-trace.ts'
import type { ExportTraceServiceRequest, ExportTraceServiceResponse } from './generated/otlp-trace.ts'

const exportTraces = toGrpcMethod(TraceServiceDefinition.fullName, TraceServiceDefinition.methods.export)

/** The connection to a collector: without encryption, as the configuration has no word for any. */
export class OtlpClient implements Disposable {
  readonly #client: Client

  /** As in "host:4317", "dns:host:4317", "unix:/path" or "unix-abstract:name". */
  constructor(endpoint: string) {
    this.#client = new Client(toTarget(endpoint), credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_http_proxy': 0,
      'grpc.enable_channelz': 0,
    })
  }

  async send(request: ExportTraceServiceRequest, signal: AbortSignal): Promise<ExportTraceServiceResponse> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<ExportTraceServiceResponse>()
    const call = this.#client.makeUnaryRequest(
      exportTraces.path,
      exportTraces.requestSerialize,
      exportTraces.responseDeserialize,
      request,
      (error, reply) => (error ? reject(error) : resolve(reply as ExportTraceServiceResponse)),
    )
    const cancel = () => call.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }
}

/** Names without a file begin with a zero byte. */
function toTarget(endpoint: string): string {
  return endpoint.replace(/^unix-abstract:/i, 'unix:\0')
}
