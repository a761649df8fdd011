/** One thing that a client would take, with its parameters. */
export interface Accepted {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

/** What an Accept header asks for, the most wanted first. */
export function parseAccept(header: string | undefined): readonly Accepted[] {
  return (header ?? '')
    .split(',')
    .map((clause) => {
      const [type = '', ...pairs] = clause.split(';').map((part) => part.trim())
      const parameters = Object.fromEntries(
        pairs.map((pair) => {
          const [name = '', value = ''] = pair.split('=')
          return [name.toLowerCase(), value.replaceAll('"', '')]
        }),
      )
      return { type: type.toLowerCase(), parameters, quality: Number(parameters['q'] ?? 1) }
    })
    .filter(({ type, quality }) => type !== '' && quality > 0)
    .sort((a, b) => b.quality - a.quality)
}

/** True when the client takes gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  return parseAccept(header).some(({ type }) => type === 'gzip')
}
