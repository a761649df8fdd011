import type { Logger } from '../../base/telemetry/logger.ts'

/** What is kept of a request that reaches into a container. */
export interface AuditEntry {
  /** Undefined when the caller is not known. */
  readonly caller: string | undefined
  readonly from: string | undefined
  readonly method: string
  /** Without the query, which may hold commands and what was written into them. */
  readonly path: string
  /** What was reached for: namespace, pod, and where the endpoint has them uid and container. */
  readonly [part: string]: string | number | undefined
  /** Of a command its program alone: what it was called with may hold secrets. */
  readonly program: string | undefined
  /** 499: the client left before it had an answer. */
  readonly code: number
  /** Of a connection that went on in another protocol: finished, broken, idle or stopped. */
  readonly end: string | undefined
  readonly seconds: number
}

export type Audit = (entry: AuditEntry) => void

/** The endpoints that reach into containers, by the first part of their path. */
const AUDITED = new Set(['exec', 'attach', 'portForward', 'containerLogs', 'run', 'checkpoint'])

export function isAudited(label: string): boolean {
  return AUDITED.has(label)
}

/** The program of a command, as far as it is the name of one. */
export function findProgram(query: URLSearchParams): string | undefined {
  const [first = ''] = query.getAll('command')
  const word = first === '' ? (query.get('cmd') ?? '').split(' ', 1)[0] : first
  return /^(?:[\w.+/-]*\/)?([\w.+-]{1,64})$/.exec(word ?? '')?.[1]
}

/** One line of the log for each such request, also for those that were refused. */
export function createAuditLog(log: Logger): Audit {
  return (entry) => log.info('audit', { ...entry, seconds: Math.round(entry.seconds * 1000) / 1000 })
}
