import type { LogRequest } from '../../../pods/logs/read-log.ts'
import { parseLogTime, toLogTime } from '../../../pods/logs/log-time.ts'
import type { LogTime } from '../../../pods/logs/log-time.ts'
import { HttpError } from '../../http/error-answer.ts'

/** What the query of a request for a log asks for. */
export interface ContainerLogQuery extends Omit<LogRequest, 'place'> {
  readonly previous: boolean
}

const STREAMS = { All: 'all', Stdout: 'stdout', Stderr: 'stderr' } as const
const NEWEST_INT64 = 2n ** 63n - 1n

/** Reads the query by the rules of PodLogOptions; throws what to answer when it breaks them. */
export function parseContainerLogQuery(
  query: URLSearchParams,
  { splitStreams, now }: { readonly splitStreams: boolean; readonly now: number },
): ContainerLogQuery {
  const tailLines = parseInteger(findTail(query))
  const limitBytes = parseInteger(query.get('limitBytes'))
  const sinceSeconds = parseInteger(query.get('sinceSeconds'))
  const sinceTime = parseTime(query.get('sinceTime'))
  const stream = query.get('stream')
  const invalid =
    (tailLines !== undefined && tailLines < 0) ||
    (limitBytes !== undefined && limitBytes < 1) ||
    (sinceSeconds !== undefined && (sinceSeconds < 1 || query.has('sinceTime'))) ||
    (splitStreams && !isStream(stream ?? 'All')) ||
    (splitStreams && (stream ?? 'All') !== 'All' && tailLines !== undefined)
  if (invalid) throw new HttpError(422, '{"message": "Invalid request."}')
  if (!splitStreams && stream !== null && stream !== 'All')
    throw new HttpError(
      400,
      `Cannot return the log stream "${stream}": the feature gate PodLogsQuerySplitStreams is off`,
    )
  return {
    follow: parseFlag(query.get('follow')),
    previous: parseFlag(query.get('previous')),
    timestamps: parseFlag(query.get('timestamps')),
    stream: stream !== null && isStream(stream) ? STREAMS[stream] : 'all',
    tailLines,
    limitBytes,
    since: sinceSeconds === undefined ? sinceTime : toLogTime(now - sinceSeconds * 1000),
  }
}

/** An old name, under which "all" stands for no limit. */
function findTail(query: URLSearchParams): string | null {
  const tail = query.get('tail')
  if (tail === null || tail === '') return query.get('tailLines')
  return tail === 'all' ? null : tail
}

/** As everywhere in Kubernetes' queries: only these two mean no. */
function parseFlag(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false'
}

function parseInteger(text: string | null): number | undefined {
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw undecodable()
  const value = BigInt(text.replace(/^\+/, ''))
  if (value > NEWEST_INT64 || value < -NEWEST_INT64 - 1n) throw undecodable()
  return Number(value)
}

function parseTime(text: string | null): LogTime | undefined {
  if (text === null || text === '' || text === 'null') return undefined
  const time = parseLogTime(text)
  if (time === undefined) throw undecodable()
  return time
}

function isStream(text: string): text is keyof typeof STREAMS {
  return Object.hasOwn(STREAMS, text)
}

function undecodable(): HttpError {
  return new HttpError(400, '{"message": "Unable to decode query."}')
}
