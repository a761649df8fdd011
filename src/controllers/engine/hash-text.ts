import { fnv1a32 } from '../../model/text/fnv1a32.ts'

// Letters and digits that make no words and are not taken for one another.
const CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** A short text that is safe in names, for a value of JSON; the order of its fields does not matter. */
export function hashText(value: unknown, collisions: number | undefined): string {
  const text = `${stableText(value)}${collisions === undefined ? '' : `#${collisions}`}`
  return String(fnv1a32(toAscii(text)))
    .split('')
    .map((digit) => CHARACTERS[digit.charCodeAt(0) % CHARACTERS.length])
    .join('')
}

/** JSON with sorted fields, without those that are undefined. */
function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join(',')}]`
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${stableText(field)}`).join(',')}}`
}

function toAscii(text: string): string {
  return text.replaceAll(/[^ -~]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}
