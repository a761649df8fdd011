import { SyntaxProblem } from './document-value.ts'

// A large pod has some ten thousand tokens, a configuration a few hundred. The parser takes about 3 µs and 400 bytes for each and blocks the process.
const MAX_TOKENS = 300_000
// The parser puts the text of double-quoted values together character by character: 0.1 µs and 60 bytes for each.
const MAX_QUOTED_LENGTH = 2 * 1024 * 1024
// Values that aliases add by repeating what an anchor names; keeps "a billion laughs" from growing.
const MAX_ALIASED_VALUES = 20_000
// Each takes about 1 µs and up to 400 bytes.
const MAX_JSON_VALUES = 500_000

/** How much may be read: by default for one document, or for all documents that are parsed with the same budget. */
export class ParseBudget {
  #tokens = MAX_TOKENS
  #quotedLength = MAX_QUOTED_LENGTH
  #aliasedValues = MAX_ALIASED_VALUES
  #jsonValues = MAX_JSON_VALUES

  /** Something was refused because of it, as all that follows would be. */
  get isSpent(): boolean {
    return this.#tokens < 0 || this.#quotedLength < 0 || this.#aliasedValues < 0 || this.#jsonValues < 0
  }

  takeToken(offset: number): void {
    if (--this.#tokens < 0) throw new SyntaxProblem('too many values', offset)
  }

  takeQuoted(length: number, offset: number): void {
    this.#quotedLength -= length
    if (this.#quotedLength < 0)
      throw new SyntaxProblem(`more than ${MAX_QUOTED_LENGTH} characters in double quotes`, offset)
  }

  takeAliasedValues(count: number, offset: number): void {
    this.#aliasedValues -= count
    if (this.#aliasedValues < 0) throw new SyntaxProblem('aliases repeat too much', offset)
  }

  takeJsonValue(offset: number): void {
    if (--this.#jsonValues < 0) throw new SyntaxProblem('too many values', offset)
  }
}
