/** A part of what a container printed, as one entry of its log has it. */
export interface LogPiece {
  /** Of the first piece of an entry. */
  readonly head?: { readonly time: string; readonly stream: 'stdout' | 'stderr' }
  /** Ends with a newline where the container's line ends. */
  readonly text: Uint8Array
}

/** Takes the bytes of a log file in any portions, and gives what they hold. Lines that are no entries are left out. */
export interface LogParser {
  parse(bytes: Buffer): LogPiece[]
  /** What is left when no more bytes come. */
  finish(): LogPiece[]
}
