/** Where the output of simulated containers goes. */
export interface RuntimeLogs {
  /** The log of a container is there afterwards. */
  open(path: string): void
  /** One full line. */
  append(path: string, stream: 'stdout' | 'stderr', nowMs: number, text: string): void
}
