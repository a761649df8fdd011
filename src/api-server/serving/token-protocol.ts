// Pages in browsers cannot set headers, so they carry the token in the list of protocols, in this form.
const PREFIX = 'base64url.bearer.authorization.k8s.io.'

/** The value of an Authorization header for the token in a list of WebSocket protocols; undefined when there is none. */
export function authorizationOf(protocols: string | undefined): string | undefined {
  const found = split(protocols).find((protocol) => protocol.startsWith(PREFIX))
  if (found === undefined) return undefined
  return `Bearer ${Buffer.from(found.slice(PREFIX.length), 'base64url').toString('utf8')}`
}

/** The protocols without the one that is a token. */
export function withoutTokenProtocol(protocols: string): string {
  return split(protocols)
    .filter((protocol) => !protocol.startsWith(PREFIX))
    .join(', ')
}

function split(protocols = ''): readonly string[] {
  return protocols.split(',').map((protocol) => protocol.trim())
}
