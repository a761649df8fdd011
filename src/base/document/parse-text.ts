import type { DocumentValue, Segments } from './document-value.ts'
import { SyntaxProblem } from './document-value.ts'
import { ParseBudget } from './parse-budget.ts'
import { parseJson } from './parse-json.ts'
import { parseYaml } from './parse-yaml.ts'
import { TextPlaces } from './text-places.ts'
import type { Place } from './text-places.ts'

/** A parsed text with places as people count them. */
export interface LocatedText {
  readonly value: DocumentValue
  /** The place of the value at a path, or of the nearest value above it. */
  locate(segments: Segments): Place
  /** Keys that an object has twice; the value has the last of each. */
  readonly duplicates: readonly (Place & { readonly segments: Segments })[]
  /** Where a second document begins; it was not read. */
  readonly second: Place | undefined
}

/** A text that cannot be read, with the place where that showed. */
export class TextError extends Error {
  override readonly name = 'TextError'
  readonly place: Place

  constructor(rule: string, place: Place, options?: ErrorOptions) {
    super(rule, options)
    this.place = place
  }
}

const START: Place = { line: 1, column: 1 }

/** Bytes of a JSON or YAML text → its value, with where everything stands; throws TextError for what is neither, or more than the budget allows. */
export function parseText(bytes: Uint8Array, budget = new ParseBudget()): LocatedText {
  const text = decodeUtf8(bytes)
  const places = new TextPlaces(text)
  try {
    const parsed = /^\s*\{/.test(text) ? parseJson(text, budget) : parseYaml(text, budget)
    return {
      value: parsed.value,
      locate: (segments) => places.at(parsed.offsetOf(segments)),
      duplicates: parsed.duplicates.map(({ segments, offset }) => ({ segments, ...places.at(offset) })),
      second: parsed.secondAt === undefined ? undefined : places.at(parsed.secondAt),
    }
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    throw new TextError(error.message, places.at(error.offset), { cause: error })
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new TextError('not UTF-8 text', firstBadLine(bytes), { cause: error })
  }
  const binary = text.search(CONTROL_CHARACTER)
  if (binary >= 0) throw new TextError('binary data, expected YAML or JSON text', new TextPlaces(text).at(binary))
  if (text.trim() === '') throw new TextError('empty', START)
  return text
}

// eslint-disable-next-line no-control-regex -- These distinguish binary data from text.
const CONTROL_CHARACTER = /[\u0000-\u0008\u000e-\u001f\u007f]/

/** The line that holds the first byte which is not UTF-8. */
function firstBadLine(bytes: Uint8Array): Place {
  const lossy = new TextDecoder('utf-8').decode(bytes)
  return new TextPlaces(lossy).at(Math.max(0, lossy.indexOf('\ufffd')))
}
