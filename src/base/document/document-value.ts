/** What a YAML or JSON text says, before anything is known of its meaning. An integer beyond 2^53 is a bigint. */
export type DocumentValue = null | boolean | number | bigint | string | readonly DocumentValue[] | DocumentObject
export interface DocumentObject {
  readonly [key: string]: DocumentValue
}

/** Where a value stands in its document: keys of objects and indexes of lists, from the outside in. */
export type Segments = readonly (string | number)[]

/** A key that an object has twice; the second one counts. */
export interface DuplicateKey {
  readonly segments: Segments
  readonly offset: number
}

/** A parsed text that still knows where each of its values stood. */
export interface ParsedText {
  readonly value: DocumentValue
  /** The offset of the value at a path, or of the nearest value above it. */
  offsetOf(segments: Segments): number
  readonly duplicates: readonly DuplicateKey[]
  /** Where a second document begins; only the first is read. */
  readonly secondAt: number | undefined
}

/** A text that is no JSON or YAML, with the place where that showed. */
export class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem'
  readonly offset: number

  constructor(rule: string, offset: number) {
    super(rule)
    this.offset = offset
  }
}

/**
 * The longest single value, in characters. The API takes objects of about 1.5 MB, so nothing real is longer; reading one of 9 MB blocks the process
 * for seconds and costs hundreds of megabytes.
 */
export const MAX_SCALAR_LENGTH = 2 * 1024 * 1024

export function tooLong(length: number): string {
  return `a value of ${length} characters, expected at most ${MAX_SCALAR_LENGTH}`
}
