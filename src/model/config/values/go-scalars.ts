const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** The words for yes and no that Go's flags know. */
export function parseGoBool(text: string): boolean {
  if (TRUE.has(text)) return true
  if (FALSE.has(text)) return false
  throw new Error('expected true or false')
}

const INTEGER = /^[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|0|[1-9][0-9_]*)$/

/** A whole number as Go's flags and YAML write it: decimal, or with 0x, 0o, 0b or 0 in front; undefined when it is none. */
export function parseGoInteger(text: string): bigint | undefined {
  if (!INTEGER.test(text) || /__|_$|[xXoObB]$/.test(text)) return undefined
  const negative = text.startsWith('-')
  const digits = text.replace(/^[+-]/, '').replaceAll('_', '')
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits
  return negative ? -BigInt(octal) : BigInt(octal)
}
