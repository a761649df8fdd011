import type { Logger } from '../telemetry/logger.ts'

/** What is kept of a request that reaches into a container. */
export interface AuditEntry {
  /** Undefined when nobody could be made out. */
  readonly caller: string | undefined
  readonly from: string | undefined
  readonly method: string
  /** Without the query, which may hold commands and what was written into them. */
  readonly path: string
  /** 499: the client left before it had an answer. */
  readonly code: number
  readonly seconds: number
}

export type Audit = (entry: AuditEntry) => void

/** The endpoints that reach into containers, by the first part of their path. */
const AUDITED = new Set(['exec', 'attach', 'portForward', 'containerLogs', 'run', 'checkpoint'])

export function isAudited(label: string): boolean {
  return AUDITED.has(label)
}

/** One line of the log for each such request, also for those that were refused. */
export function createAuditLog(log: Logger): Audit {
  return (entry) => log.info('audit', { ...entry, seconds: Math.round(entry.seconds * 1000) / 1000 })
}
