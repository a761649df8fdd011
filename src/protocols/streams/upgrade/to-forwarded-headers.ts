import type { IncomingMessage } from 'node:http'

// An upgrade request has no body, so no header about one is passed on: nothing can hide between two readings of it.
const NEVER_FORWARDED = ['content-length', 'transfer-encoding', 'trailer', 'expect']
const FORWARDED_FOR = 'X-Forwarded-For'

/**
 * The headers of a request for the next server: as they came, with changes (undefined takes one away), and with the client's address
 * added to X-Forwarded-For. In the form of rawHeaders: name, value, name, value …
 */
export function toForwardedHeaders(
  request: Pick<IncomingMessage, 'rawHeaders' | 'socket'>,
  changes: Readonly<Record<string, string | undefined>> = {},
): string[] {
  const changed = new Set([...Object.keys(changes), FORWARDED_FOR].map((name) => name.toLowerCase()))
  const kept: string[] = []
  const forwarded: string[] = []
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? ''
    const value = request.rawHeaders[at + 1] ?? ''
    const lower = name.toLowerCase()
    if (lower === FORWARDED_FOR.toLowerCase()) forwarded.push(value)
    else if (!changed.has(lower) && !NEVER_FORWARDED.includes(lower)) kept.push(name, value)
  }
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) kept.push(name, value)
  const address = request.socket.remoteAddress
  if (address !== undefined) forwarded.push(address)
  if (forwarded.length > 0) kept.push(FORWARDED_FOR, forwarded.join(', '))
  return kept
}
