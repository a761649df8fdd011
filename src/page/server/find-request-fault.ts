import type { IncomingHttpHeaders } from 'node:http'

// A page of another site can have a name that leads here (DNS rebinding), but never one of these. The port may be that of a tunnel.
const OWN_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/

/** Why a request does not come from our own page, or from a person who typed the address; undefined when it does. */
export function findRequestFault(method: string, path: string, headers: IncomingHttpHeaders): string | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers
  if (!OWN_HOST.test(host)) return 'This page is only served as 127.0.0.1 or localhost.'
  if (origin !== undefined && origin !== `http://${host}`) return 'Requests of other sites are not answered.'
  if (!['GET', 'HEAD'].includes(method) && origin === undefined)
    return 'A request that changes something needs an origin.'
  // A link on another site may lead to the page itself, but no other site reads or embeds anything.
  const isVisit = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  if (site === undefined || site === 'same-origin' || site === 'none' || (isVisit && !isData(path))) return undefined
  return 'Requests of other sites are not answered.'
}

function isData(path: string): boolean {
  return /^\/(?:apis?|access|agent|forwards|live|session)(?:\/|$)/.test(path)
}
