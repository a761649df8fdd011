import type { Container, EphemeralContainer, HTTPGetAction } from '../../model/generated/core-v1.ts'
import { resolvePort } from '../../model/pod/resolve-port.ts'
import type { HttpGetRequest } from './http-get.ts'

/** What a GET depends on besides the spec's own words. */
export interface HttpGetContext {
  readonly container: Pick<Container | EphemeralContainer, 'ports'>
  /** Asked when the spec names no host. */
  readonly podIp: string | undefined
  /** Said unless the spec has a header of its own. */
  readonly userAgent: string
}

// No probe or hook reads more of an answer than this.
const MAX_BODY_BYTES = 10 * 1024

/** The request that an httpGet of a spec asks for; throws when its port does not exist or the pod's address is not known. */
export function toHttpGetRequest(action: HTTPGetAction, context: HttpGetContext): HttpGetRequest {
  const host = (action.host ?? '') === '' ? context.podIp : action.host
  if (host === undefined || host === '') throw new Error('Cannot ask the container: the pod has no address')
  return {
    scheme: action.scheme === 'HTTPS' ? 'https' : 'http',
    host,
    port: resolvePort(action.port, context.container),
    path: action.path ?? '/',
    headers: headersOf(action, context.userAgent),
    maxBodyBytes: MAX_BODY_BYTES,
  }
}

function headersOf({ httpHeaders = [] }: HTTPGetAction, userAgent: string): HttpGetRequest['headers'] {
  const given = (name: string) => httpHeaders.some((header) => header.name.toLowerCase() === name)
  return [
    ...(given('user-agent') ? [] : [{ name: 'User-Agent', value: userAgent }]),
    ...(given('accept') ? [] : [{ name: 'Accept', value: '*/*' }]),
    // An empty one of these is how a spec says that it wants none.
    ...httpHeaders.filter(({ name, value }) => value !== '' || !['accept', 'user-agent'].includes(name.toLowerCase())),
  ]
}
