/** What a log line may carry besides its message. Never a secret. */
export type LogFields = Readonly<Record<string, unknown>>

/** Levelled, structured logging. Messages are constant sentences; what varies is a field. */
export interface Logger {
  /** An operator must act. */
  error(message: string, fields?: LogFields): void
  /** Went wrong and is tried again. */
  warn(message: string, fields?: LogFields): void
  /** Life events. */
  info(message: string, fields?: LogFields): void
  /** Decisions; shown from verbosity 4 on. */
  debug(message: string, fields?: LogFields): void
  /** A logger whose lines all carry these fields. */
  child(fields: LogFields): Logger
}
