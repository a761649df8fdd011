import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { MetricsFormat } from '../../base/telemetry/format-metrics.ts'
import type { Route } from '../http/route.ts'
import { sendAnswer } from '../http/send-answer.ts'
import { acceptsGzip, parseAccept } from './negotiate.ts'

/** Metrics of one kind, written when they are asked for. */
export type RenderMetrics = (format: MetricsFormat) => Promise<{ readonly type: string; readonly body: string }>

const compress = promisify(gzip)
// Less is not worth the work.
const LEAST_COMPRESSED_BYTES = 1024

/** Metrics at a path, in the format that the client asks for. */
export function createMetricsRoute(path: string, render: RenderMetrics): Route {
  return {
    path,
    methods: 'any',
    async handle({ raw }, response) {
      const { type, body } = await render(toFormat(raw.headers.accept))
      const isLong = Buffer.byteLength(body) >= LEAST_COMPRESSED_BYTES
      const packed = isLong && acceptsGzip(raw.headers['accept-encoding'])
      const headers = packed ? { 'content-encoding': 'gzip', vary: 'accept-encoding' } : {}
      sendAnswer(response, { status: 200, type, body: packed ? await compress(body) : body, headers })
    },
  }
}

/** /metrics/slis: how the health checks went. DELETE forgets it. */
export function createSlisRoute(render: RenderMetrics, reset: () => void): Route {
  const route = createMetricsRoute('/metrics/slis', render)
  return {
    ...route,
    async handle(request, response) {
      if (request.raw.method !== 'DELETE') return await route.handle(request, response)
      reset()
      sendAnswer(response, { status: 200, body: 'metrics reset\n' })
    },
  }
}

/** The first format of the client's that we have; the old text when it names none. */
function toFormat(accept: string | undefined): MetricsFormat {
  const found = parseAccept(accept).find(({ type }) =>
    ['application/openmetrics-text', 'text/plain', '*/*', 'text/*'].includes(type),
  )
  return found?.type === 'application/openmetrics-text' ? 'openMetrics' : 'text'
}
