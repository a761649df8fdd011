import type { IncomingMessage } from 'node:http'
import { parseTraceparent } from '../../base/telemetry/trace-context.ts'
import type { Tracer } from '../../base/telemetry/tracer.ts'
import type { Route } from './route.ts'

export interface TraceRequestDeps {
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined
  readonly type: 'readonly' | 'readwrite'
}

export interface TracedRequest {
  readonly request: IncomingMessage
  readonly route: Route
  /** What was answered. */
  readonly code: () => number
}

/** Shows the answer to an admitted request as a span. An admitted client decides on the trace; on the open port every client could. */
export function traceRequest<T>(
  { tracer, type }: TraceRequestDeps,
  { request, route, code }: TracedRequest,
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work()
  const { traceparent } = request.headers
  const remote = parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined)
  const name = route.path.replaceAll(/[:*](\w+)/g, '{$1}')
  const options = {
    kind: 'server' as const,
    attributes: { 'http.request.method': request.method ?? '', 'http.route': name },
    ...(type === 'readwrite' ? { parent: remote } : { link: remote }),
  }
  return tracer.span(name, options, async (span) => {
    try {
      return await work()
    } finally {
      span.set({ 'http.response.status_code': code() })
    }
  })
}
