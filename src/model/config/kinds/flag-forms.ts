/** How the pairs of a map flag are written. */
export interface PairForm {
  readonly separator: '=' | '<' | ':'
  /** One pair for each use of the flag, so that a value may hold commas. */
  readonly onePair?: boolean
}

const QUOTED = /^"((?:[^"]|"")*)"(?:,|$)/
const PLAIN = /^([^,"]*)(?:,|$)/

/** A line of comma separated values, of which some may be in double quotes ("" is one quote). */
export function parseCommaList(text: string): readonly string[] {
  if (text === '') return []
  const values: string[] = []
  let rest = `${text},`
  while (rest !== '') {
    const match = QUOTED.exec(rest) ?? PLAIN.exec(rest)
    if (match === null) throw new Error('expected values separated by commas')
    values.push((match[1] ?? '').replaceAll('""', '"'))
    rest = rest.slice(match[0].length)
  }
  return values
}

/** "key=value,key=value" to pairs. */
export function parsePairs(text: string, form: PairForm): readonly (readonly [key: string, value: string])[] {
  const parts = form.onePair === true ? [text] : text.split(',')
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf(form.separator)
      if (at < 0) throw new Error(`expected key${form.separator}value in ${JSON.stringify(part)}`)
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    })
}

/** "name:value,name:value" with repeats, such as HTTP headers. */
export function parseMultimap(texts: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const values = new Map<string, readonly string[]>()
  for (const [key, value] of texts.flatMap((text) => parsePairs(text, { separator: ':' }))) {
    values.set(key, [...(values.get(key) ?? []), value])
  }
  return Object.fromEntries(values)
}
