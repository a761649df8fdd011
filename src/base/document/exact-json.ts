/** What Node has of JSON and the library types do not know yet. */
interface SourceTextJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): object
}

const exact = JSON as unknown as SourceTextJson
// Only a text with such a number somewhere needs the slow way; in a string it does no harm.
const MAYBE_LARGE = /(?:^|[\s:,[])-?\d{16}/
const INTEGER = /^-?\d+$/

/** Text of JSON → its value, with integers beyond 2^53 as bigint: JSON.parse alone would round them. "__proto__" is a key like any other. */
export function parseExactJson(text: string): unknown {
  return MAYBE_LARGE.test(text) ? exact.parse(text, keepExact) : JSON.parse(text)
}

function keepExact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
  return INTEGER.test(source) ? BigInt(source) : value
}

/** The text of a value; the other direction of parseExactJson(). */
export function formatExactJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    // A value with a bigint somewhere, which few have: giving every member to a function takes several times as long.
    if (error instanceof TypeError) return JSON.stringify(value, toExact)
    throw error
  }
}

function toExact(_key: string, member: unknown): unknown {
  return typeof member === 'bigint' ? exact.rawJSON(member.toString()) : member
}
