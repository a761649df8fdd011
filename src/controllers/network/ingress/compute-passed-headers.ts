import type { RequestTarget } from './compute-route-match.ts'

/** Headers as Node has them: names and values in turn. */
export type RawHeaders = readonly string[]

/** Headers that are about one connection and not about what is sent. */
const CONNECTION_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Only this proxy may set these: the services behind it trust them. */
const FORWARDING_HEADERS = ['forwarded', 'x-real-ip']

export interface PassedFrom {
  readonly target: RequestTarget
  readonly clientAddress: string
  readonly protocol: 'http' | 'https'
  /** The port that the client came to. */
  readonly port: number
}

/** The headers of a request as they are passed on. */
export function computePassedHeaders(raw: RawHeaders, from: PassedFrom): readonly string[] {
  const kept = withoutConnection(raw).filter(([name]) => {
    const lower = name.toLowerCase()
    // We have answered what is expected, and say the host ourselves.
    if (lower === 'host' || lower === 'expect') return false
    return !lower.startsWith('x-forwarded-') && !FORWARDING_HEADERS.includes(lower)
  })
  const { target, clientAddress, protocol, port } = from
  return [
    'Host',
    target.authority,
    ...kept.flat(),
    'X-Forwarded-For',
    clientAddress,
    'X-Forwarded-Proto',
    protocol,
    'X-Forwarded-Host',
    target.authority,
    'X-Forwarded-Port',
    String(port),
  ]
}

/** The headers of an answer as they are passed back. */
export function computeAnswerHeaders(raw: RawHeaders): readonly string[] {
  return withoutConnection(raw).flat()
}

function withoutConnection(raw: RawHeaders): readonly (readonly [name: string, value: string])[] {
  const pairs: [string, string][] = []
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? '', raw[index + 1] ?? ''])
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((each) => each.trim().toLowerCase()))
  // Where the body ends is never up to the sender's list.
  const left = new Set([...CONNECTION_HEADERS, ...named.filter((name) => name !== 'content-length')])
  return pairs.filter(([name]) => !left.has(name.toLowerCase()))
}

/** An address as people write it: one of IPv4 may come as one of IPv6. */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/, '')
}
