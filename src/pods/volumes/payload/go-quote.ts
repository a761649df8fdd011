const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}
// Of all blanks only the ordinary one counts as printable.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** A text in quotes the way Go writes it; programs read labels and annotations in this form. */
export function goQuote(text: string): string {
  return `"${Array.from(text.toWellFormed(), quoteCharacter).join('')}"`
}

function quoteCharacter(character: string): string {
  const short = SHORT[character]
  if (short !== undefined) return short
  if (PRINTABLE.test(character)) return character
  const code = character.codePointAt(0) ?? 0
  const hex = (digits: number) => code.toString(16).padStart(digits, '0')
  if (code < 0x80) return `\\x${hex(2)}`
  return code <= 0xff_ff ? `\\u${hex(4)}` : `\\U${hex(8)}`
}
