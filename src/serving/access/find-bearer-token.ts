import type { IncomingHttpHeaders } from 'node:http'

/** A token of a request: it may be there, be absent, or be there in a way that cannot be right. */
export type BearerToken =
  | { readonly kind: 'absent' }
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'found'; readonly token: string }

const SUBPROTOCOL = 'base64url.bearer.authorization.k8s.io.'

/** The token of "Authorization: Bearer …". */
export function findHeaderToken({ authorization }: IncomingHttpHeaders): BearerToken {
  const [scheme = '', token = ''] = (authorization ?? '').trim().split(' ')
  return scheme.toLowerCase() === 'bearer' && token !== '' ? { kind: 'found', token } : { kind: 'absent' }
}

/** The token among the subprotocols of a websocket, which is where browsers can put one. */
export function findSubprotocolToken(headers: IncomingHttpHeaders): BearerToken {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return { kind: 'absent' }
  const protocols = listSubprotocols(headers)
  const tokens = protocols.filter((protocol) => protocol.startsWith(SUBPROTOCOL))
  const [first] = tokens
  if (first === undefined) return { kind: 'absent' }
  if (tokens.length > 1) return { kind: 'broken', why: 'several tokens among the subprotocols' }
  if (protocols.length === 1) return { kind: 'broken', why: 'a token and no subprotocol besides it' }
  const encoded = first.slice(SUBPROTOCOL.length)
  const token = Buffer.from(encoded, 'base64url')
  if (encoded === '' || token.toString('base64url') !== encoded)
    return { kind: 'broken', why: 'a token among the subprotocols that is not base64url without padding' }
  return { kind: 'found', token: token.toString('utf8') }
}

/** The subprotocols without the token. */
export function withoutToken(headers: IncomingHttpHeaders): string {
  return listSubprotocols(headers)
    .filter((protocol) => !protocol.startsWith(SUBPROTOCOL))
    .join(', ')
}

function listSubprotocols(headers: IncomingHttpHeaders): readonly string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '')
}
