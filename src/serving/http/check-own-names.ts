import { isIP } from 'node:net'
import { allowAll } from './access-check.ts'
import type { AccessCheck } from './access-check.ts'

/**
 * Allows every client that calls this machine by a name of its own. A page in a browser on this machine can have its own name point to this
 * machine and read what is open to all here; what it cannot do is to send another name than its own. Only calls from the machine
 * itself are checked: others could be made without a browser too, and may use any name that the node was given.
 */
export function createOwnNamesCheck(names: readonly string[]): AccessCheck {
  return async (request, path, signal) => {
    const name = toName(request.headers.host ?? '')
    const isOwn = name === '' || isIP(name) !== 0 || /(^|\.)localhost$/.test(name) || names.includes(name)
    if (isOwn || !isLoopback(request.socket.localAddress ?? '')) return await allowAll(request, path, signal)
    const body = `Cannot serve "${name}": expected localhost, an IP address or ${names.join(' or ')}\n`
    return { caller: undefined, refusal: { status: 421, body } }
  }
}

/** Without the port, and without the brackets of an address. */
function toName(host: string): string {
  return host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address)
}
