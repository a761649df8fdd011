import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { NodeLog, NodeLogs } from '../../../system/directories/logs/node-logs.ts'
import type { Route, RouteRequest } from '../../http/route.ts'
import { sendAnswer, sendText } from '../../http/send-answer.ts'
import { parseNodeLogQuery } from './parse-node-log-query.ts'
import type { NodeLogQuery, NodeLogOptions } from './parse-node-log-query.ts'

/** The journal of the machine. */
export interface Journal {
  /** The units that have written something; undefined where there is no journal. */
  units(signal: AbortSignal): Promise<ReadonlySet<string> | undefined>
  /** Writes the lines that the arguments ask for; gives what went wrong. */
  write(args: readonly string[], sink: Writable, signal: AbortSignal): Promise<string | undefined>
}

interface LogsDeps {
  readonly logs: NodeLogs
  /** Undefined: questions are not answered, files are shown whatever is asked. */
  readonly journal: Journal | undefined
}

/** /logs/: the files below the machine's log folder, or the lines of services that a query asks for. */
export function createLogsRoutes(deps: LogsDeps): readonly Route[] {
  const handle = async (request: RouteRequest, response: ServerResponse) => {
    const path = request.parameters['path'] ?? ''
    const query = deps.journal === undefined ? ({ kind: 'none' } as const) : parseNodeLogQuery(request.query)
    if (query.kind === 'none') return await sendFile(deps.logs, { path, request }, response)
    if (query.kind === 'refused') return sendText(response, query.status, `${query.why}\n`)
    if (path !== '') return sendText(response, 406, 'expected no path besides a query\n')
    await answerQuery(deps, query, request, response)
  }
  return [
    { path: '/logs', methods: ['GET'], handle },
    { path: '/logs/*path', methods: ['GET'], handle },
  ]
}

async function sendFile(
  logs: NodeLogs,
  { path, request }: { readonly path: string; readonly request: RouteRequest },
  response: ServerResponse,
): Promise<void> {
  await logs.open(path, async (log) => {
    switch (log.kind) {
      case 'absent':
        return sendText(response, 404, '404 page not found\n')
      case 'directory':
        return sendAnswer(response, {
          status: 200,
          type: 'text/html; charset=utf-8',
          body: toListing(log.entries, request.raw.url ?? ''),
        })
      case 'file':
        return await sendContent(log, path, response, request.signal)
    }
  })
}

async function sendContent(
  { size, modifiedAt, content }: NodeLog & { readonly kind: 'file' },
  path: string,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, {
    'content-type': path.endsWith('.gz') ? 'application/gzip' : 'text/plain; charset=utf-8',
    'content-length': size,
    'last-modified': new Date(modifiedAt).toUTCString(),
    'x-content-type-options': 'nosniff',
  })
  if (size === 0) response.end()
  else await pipeline(content(), response, { signal })
}

/** Links are relative, since the API server shows the page elsewhere; how they begin depends on how the page was asked for. */
function toListing(entries: (NodeLog & { kind: 'directory' })['entries'], url: string): string {
  const [path = ''] = url.split('?', 1)
  const start = path.endsWith('/') ? '' : `${path.slice(path.lastIndexOf('/') + 1)}/`
  const lines = entries.map(({ name, isDirectory }) => {
    const shown = `${name}${isDirectory ? '/' : ''}`
    const target = `./${start}${encodeURIComponent(name)}${isDirectory ? '/' : ''}`
    return `<a href="${escapeHtml(target)}">${escapeHtml(shown)}</a>`
  })
  return `<!doctype html>\n<pre>\n${lines.join('\n')}\n</pre>\n`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;')
}

async function answerQuery(
  deps: LogsDeps,
  query: Exclude<NodeLogQuery, { kind: 'none' | 'refused' }>,
  { raw, signal }: RouteRequest,
  response: ServerResponse,
): Promise<void> {
  if (query.kind === 'file' && !(await exists(deps.logs, query.path)))
    return sendText(response, 406, `query: no file "${query.path}" among the logs\n`)
  const packed = raw.headers['accept-encoding'] === 'gzip'
  response.writeHead(200, {
    'content-type': 'text/plain;charset=UTF-8',
    'x-content-type-options': 'nosniff',
    ...(packed ? { 'content-encoding': 'gzip' } : {}),
  })
  const sink = packed ? createGzip() : new PassThrough()
  const sent = pipeline(sink, response, { signal })
  const work = async () => {
    if (query.kind === 'file') await copyFile(deps.logs, query.path, sink)
    else await writeServices(deps, query, sink, signal)
    sink.end()
  }
  await Promise.all([work(), sent])
}

async function writeServices(
  { logs, journal }: LogsDeps,
  { services, options }: Extract<NodeLogQuery, { kind: 'services' }>,
  sink: Writable,
  signal: AbortSignal,
): Promise<void> {
  const units = await journal?.units(signal)
  const inJournal = services.filter((service) => units?.has(`${service}.service`) === true)
  if (inJournal.length > 0) {
    const problem = await journal?.write(toJournalArguments(inJournal, options), sink, signal)
    if (problem !== undefined) sink.write(`${problem}\n`)
  }
  for (const service of services.filter((name) => !inJournal.includes(name))) {
    if (Object.keys(options).length > 0)
      sink.write(`${service} writes to a file, which can only be shown as a whole: expected no options\n`)
    else await writeServiceFile(logs, service, sink)
  }
}

async function writeServiceFile(logs: NodeLogs, service: string, sink: Writable): Promise<void> {
  for (const path of [service, `${service}.log`, `${service}/${service}.log`]) {
    if (!(await exists(logs, path))) continue
    return await copyFile(logs, path, sink)
  }
  sink.write(`no log of ${service} is here\n`)
}

async function exists(logs: NodeLogs, path: string): Promise<boolean> {
  return await logs.open(path, (log) => Promise.resolve(log.kind === 'file'))
}

async function copyFile(logs: NodeLogs, path: string, sink: Writable): Promise<void> {
  await logs.open(path, async (log) => {
    if (log.kind === 'file' && log.size > 0) await pipeline(log.content(), sink, { end: false })
  })
}

/** The arguments of journalctl for the lines of some services. */
export function toJournalArguments(services: readonly string[], options: NodeLogOptions): readonly string[] {
  const { sinceTime, untilTime, tailLines, pattern, boot } = options
  return [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    ...(sinceTime === undefined ? [] : [`--since=${toJournalTime(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${toJournalTime(untilTime)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : ['--boot', String(boot)]),
  ]
}

function toJournalTime(time: Date): string {
  const date = [time.getUTCFullYear(), time.getUTCMonth() + 1, time.getUTCDate()].join('-')
  return `${date} ${[time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].join(':')}`
}
