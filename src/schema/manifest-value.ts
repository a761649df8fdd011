/** What a manifest says, before anything is known of its meaning. An integer beyond 2^53 is a bigint. */
export type ManifestValue = null | boolean | number | bigint | string | readonly ManifestValue[] | ManifestObject
export interface ManifestObject {
  readonly [key: string]: ManifestValue
}

/** A parsed text that still knows where each of its values stood. */
export interface ParsedManifest {
  readonly value: ManifestValue
  /** The offset of the value at a path, or of the nearest value above it. */
  offsetOf(segments: readonly (string | number)[]): number
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
