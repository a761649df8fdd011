import type { RouteBackend, PathRoute, IngressRoutes } from './ingress-route.ts'

/** What a request asks for. */
export interface RequestTarget {
  /** As the client wrote it, with a port where there was one; empty when it named none. */
  readonly authority: string
  /** In lower case, without a port. */
  readonly host: string
  /** Without the query. */
  readonly path: string
  /** With the query: what is sent on. */
  readonly uri: string
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:@[\]\s]*)(?::\d*)?$/i

/** Undefined for what is no request for a host and a path. */
export function computeTarget(url: string, hostHeader: string | undefined): RequestTarget | undefined {
  const absolute = ABSOLUTE.exec(url)
  const authority = absolute?.[1] ?? hostHeader ?? ''
  const rest = absolute?.[2] ?? url
  const uri = absolute !== null && !rest.startsWith('/') ? `/${rest}` : rest
  const host = AUTHORITY.exec(authority)?.[1]
  if (host === undefined || !(uri.startsWith('/') || uri === '*')) return undefined
  const [path = ''] = uri.split('?', 1)
  // A dot at the end makes a name absolute, and no other.
  return { authority, host: host.toLowerCase().replace(/\.$/, ''), path, uri }
}

/** Where a request goes; undefined: nowhere. */
export function findBackend(table: IngressRoutes, { host, path }: RequestTarget): RouteBackend | undefined {
  const dot = host.indexOf('.')
  const wildcard = dot > 0 ? table.hosts.get(`*${host.slice(dot)}`) : undefined
  const routes = (host === '' ? undefined : table.hosts.get(host)) ?? wildcard ?? table.hosts.get('')
  const resolved = resolveDots(path)
  return routes?.paths.find((route) => isFor(route, resolved))?.backend ?? routes?.fallback ?? table.fallback
}

function isFor({ path, isExact }: PathRoute, asked: string): boolean {
  if (isExact) return path === asked
  const start = path.endsWith('/') ? path.slice(0, -1) : path
  return asked === start || asked.startsWith(`${start}/`)
}

/** A path as who gets it will read it: otherwise "/open/../closed" would reach what is not open. */
function resolveDots(path: string): string {
  if (!/\/(?:\.|%2e)/i.test(path)) return path
  const kept: string[] = []
  const parts = path.split('/').slice(1)
  for (const [index, part] of parts.entries()) {
    const plain = part.replaceAll(/%2e/gi, '.')
    const isLast = index === parts.length - 1
    if (plain === '..') kept.pop()
    if (plain !== '.' && plain !== '..') kept.push(part)
    else if (isLast) kept.push('')
  }
  return `/${kept.join('/')}`
}
