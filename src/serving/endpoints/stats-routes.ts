import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { computeCadvisorMetrics } from '../../node/stats/reports/compute-cadvisor-metrics.ts'
import type { MachineIdentity } from '../../node/stats/reports/compute-machine-metrics.ts'
import { computeResourceMetrics } from '../../node/stats/reports/compute-resource-metrics.ts'
import { computeSummary } from '../../node/stats/reports/compute-summary.ts'
import type { StatsFamily } from '../../node/stats/reports/stats-family.ts'
import { renderMetrics } from '../../node/stats/reports/render-metrics.ts'
import type { StatsEngine } from '../../node/stats/stats-engine.ts'
import { computeLatestUsage } from '../../node/stats/usage-history.ts'
import type { StatsPart, StatsSnapshot } from '../../node/stats/stats-snapshot.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { chooseMetricsFormat } from './choose-metrics-format.ts'
import type { Route, RouteRequest } from '../http/route.ts'

export interface StatsRoutesDeps {
  readonly engine: Pick<StatsEngine, 'ask' | 'history'>
  readonly nodeName: string
  /** Whether metrics that are on their way out are shown. */
  readonly showHidden: boolean
  readonly machine: MachineIdentity
  readonly log: Logger
}

type Compute = (snapshot: StatsSnapshot | undefined) => Iterable<StatsFamily>

interface Page {
  readonly plain: Promise<Buffer>
  packed(): Promise<Buffer>
}

const compress = promisify(gzip)
// A small answer is not worth the time.
const COMPRESS_FROM_BYTES = 1024
// However fresh a client wants it: collecting costs the same for all.
const LEAST_AGE_MS = 500

/** What the node and its pods use: /stats/summary, and the same for scrapers. Each collection is encoded once, however often it is read. */
export function createStatsRoutes(deps: StatsRoutesDeps): readonly Route[] {
  return [
    createSummaryRoute(deps),
    createHistoryRoute(deps),
    createMetricsRoute(deps, '/metrics/resource', ['usage'], (snapshot) => computeResourceMetrics(snapshot, deps)),
    createMetricsRoute(deps, '/metrics/cadvisor', ['usage', 'details', 'network'], (snapshot) =>
      computeCadvisorMetrics(snapshot, deps.machine),
    ),
  ]
}

function createSummaryRoute({ engine, nodeName }: StatsRoutesDeps): Route {
  const texts = { all: new WeakMap<StatsSnapshot, string>(), usage: new WeakMap<StatsSnapshot, string>() }
  return {
    path: '/stats/summary',
    methods: ['GET', 'POST'],
    async handle({ raw, query, signal }, response) {
      raw.resume()
      const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true'
      const parts: readonly StatsPart[] = onlyCpuAndMemory ? ['usage'] : ['usage', 'network', 'recentDisk']
      const snapshot = await engine.ask(parts, signal)
      const body = (onlyCpuAndMemory ? texts.usage : texts.all).getOrInsertComputed(snapshot, () =>
        JSON.stringify(computeSummary(snapshot, { nodeName, onlyCpuAndMemory }), undefined, 1),
      )
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    },
  }
}

/** What was measured in the last hour, by any request; this one measures nothing by itself. With "latest=true": CPU and memory as they are now, and no more. */
function createHistoryRoute({ engine }: StatsRoutesDeps): Route {
  return {
    path: '/stats/history',
    methods: ['GET'],
    async handle({ raw, query, signal }, response) {
      raw.resume()
      const isLatest = query.get('latest') === 'true'
      const columns = isLatest ? computeLatestUsage(await engine.ask(['overview'], signal)) : engine.history.columns()
      const body = `${JSON.stringify(columns)}\n`
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    },
  }
}

function createMetricsRoute(
  { engine, log }: StatsRoutesDeps,
  path: string,
  parts: readonly StatsPart[],
  compute: Compute,
): Route {
  const known = { text: new WeakMap<StatsSnapshot, Page>(), openMetrics: new WeakMap<StatsSnapshot, Page>() }
  return {
    path,
    methods: 'any',
    async handle(request, response) {
      request.raw.resume()
      const { format, contentType } = chooseMetricsFormat(request.raw.headers.accept)
      const maxAgeMs = parseMaxAge(request.raw.headers['cache-control'])
      const snapshot = await engine.ask(parts, request.signal, maxAgeMs).catch((error: unknown) => {
        request.signal.throwIfAborted()
        log.warn('cannot collect stats of the node', { path, error })
        return undefined
      })
      const write = () => toPage(renderMetrics(compute(snapshot), format))
      const page = snapshot === undefined ? write() : known[format].getOrInsertComputed(snapshot, write)
      await send(request, response, { contentType, page })
    },
  }
}

/** How old an answer may be, when the caller says so; never older than the interval, as for all callers. */
function parseMaxAge(cacheControl: string | undefined): number | undefined {
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/.exec(cacheControl ?? '') ?? []
  return seconds === undefined ? undefined : Math.max(LEAST_AGE_MS, Number(seconds) * 1000)
}

/** Packed at most once, and only when a client accepts it so. */
function toPage(text: Promise<string>): Page {
  const plain = text.then((value) => Buffer.from(value))
  let packed: Promise<Buffer> | undefined
  return { plain, packed: () => (packed ??= plain.then((bytes) => compress(bytes))) }
}

async function send(
  { raw }: RouteRequest,
  response: ServerResponse,
  { contentType, page }: { readonly contentType: string; readonly page: Page },
): Promise<void> {
  const plain = await page.plain
  const isPacked = acceptsGzip(raw.headers['accept-encoding'] ?? '') && plain.length >= COMPRESS_FROM_BYTES
  const body = isPacked ? await page.packed() : plain
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': body.length,
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
  })
  response.end(raw.method === 'HEAD' ? undefined : body)
}

function acceptsGzip(header: string): boolean {
  const desired = header.split(',').find((part) => part.trim().startsWith('gzip'))
  return desired !== undefined && !/;\s*q=0(\.0*)?\s*$/.test(desired)
}
