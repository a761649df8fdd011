/** Work that goes on until the signal aborts. A part lists its loops; the composition runs them. */
export interface Loop {
  readonly name: string
  readonly run: (signal: AbortSignal) => Promise<void>
}
