/** What a resolv.conf file says that pods can inherit. */
export interface ResolvConf {
  readonly servers: readonly string[]
  readonly searches: readonly string[]
  readonly options: readonly string[]
}

/** Reads a resolv.conf: servers and options add up, the last search line wins. */
export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = []
  let searches: string[] = []
  let options: readonly string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const [keyword = '', ...values] = line.trim().split(/\s+/)
    if (keyword === 'nameserver') {
      const [server] = values
      if (server === undefined) {
        throw new Error(`nameserver list is empty in line ${index + 1}`)
      }
      servers.push(server)
    } else if (keyword === 'search') {
      searches = values.filter((domain) => domain !== '.').map((domain) => domain.replace(/\.$/, ''))
    } else if (keyword === 'options') {
      options = mergeResolverOptions(options, values)
    }
  }
  return { servers, searches, options }
}

/** Joins two lists of "name" or "name:value"; of two with the same name the later stands, in the place of the earlier. */
export function mergeResolverOptions(first: readonly string[], second: readonly string[]): string[] {
  const byName = new Map([...first, ...second].map((option) => [option.split(':')[0], option]))
  return [...byName.values()]
}
