import type { SpanAttributes } from '../../base/telemetry/tracer.ts'
import type { FinishedSpan } from './finished-span.ts'
import { SpanKind, StatusCode } from './generated/otlp-trace.ts'
import type { ExportTraceServiceRequest, KeyValue, Span } from './generated/otlp-trace.ts'

/** Who exports. */
export interface TraceResource {
  readonly attributes: SpanAttributes
  readonly version: string
}

const KINDS = {
  internal: SpanKind.SPAN_KIND_INTERNAL,
  server: SpanKind.SPAN_KIND_SERVER,
  client: SpanKind.SPAN_KIND_CLIENT,
}
const SAMPLED = 1
const SCOPE = 'k8s.io/kubernetes/pkg/kubelet'

/** Spans in the form in which collectors take them. */
export function toExportRequest(
  { attributes, version }: TraceResource,
  spans: readonly FinishedSpan[],
): ExportTraceServiceRequest {
  return {
    resourceSpans: [
      {
        resource: { attributes: toKeyValues(attributes) },
        scopeSpans: [{ scope: { name: SCOPE, version }, spans: spans.map(toSpan) }],
      },
    ],
  }
}

function toSpan(span: FinishedSpan): Span {
  const { name, kind, context, parentSpanId, link, attributes, startedAt, endedAt, error } = span
  return {
    traceId: toBytes(context.traceId),
    spanId: toBytes(context.spanId),
    parentSpanId: toBytes(parentSpanId ?? ''),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanoseconds(startedAt),
    endTimeUnixNano: toNanoseconds(endedAt),
    attributes: toKeyValues(attributes),
    links: link === undefined ? [] : [{ traceId: toBytes(link.traceId), spanId: toBytes(link.spanId) }],
    flags: SAMPLED,
    ...(error === undefined ? {} : { status: { code: StatusCode.STATUS_CODE_ERROR, message: error } }),
  }
}

function toKeyValues(attributes: SpanAttributes): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: BigInt(value) } : { stringValue: value },
  }))
}

/** To the microsecond: a number of milliseconds has no more to give. */
function toNanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n
}

function toBytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}
