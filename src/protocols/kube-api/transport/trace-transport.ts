import { formatTraceparent } from '../../../base/telemetry/trace-context.ts'
import type { Tracer } from '../../../base/telemetry/tracer.ts'
import type { Transport } from './transport.ts'

/** The same connections, with each request shown as a span up to the beginning of its answer; the server can go on from there. */
export function traceTransport(transport: Transport, tracer: Tracer): Transport {
  return {
    host: transport.host,
    closeAll: (why) => transport.closeAll(why),
    request(request, signal) {
      const { method, target, headers } = request
      const attributes = {
        'http.request.method': method,
        'server.address': transport.host,
        'url.path': target.replace(/\?.*$/, ''),
      }
      return tracer.span(`HTTP ${method}`, { kind: 'client', attributes }, async (span) => {
        const trace = span.context === undefined ? {} : { traceparent: formatTraceparent(span.context) }
        const response = await transport.request({ ...request, headers: { ...headers, ...trace } }, signal)
        span.set({ 'http.response.status_code': response.status })
        return response
      })
    },
  }
}
