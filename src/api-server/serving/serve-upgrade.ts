import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/async/clock.ts'
import { answerUpgrade } from '../../protocols/streams/upgrade/answer-upgrade.ts'
import { proxyUpgrade } from '../../protocols/streams/upgrade/proxy-upgrade.ts'
import { UpgradeError } from '../../protocols/streams/upgrade/pass-upgrade.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { ApiError, internalError, pathNotFound } from '../api-error.ts'
import type { Backend } from '../backends/backend.ts'
import type { Backends } from '../backends/create-backends.ts'
import { findResource } from '../kinds/all-resources.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { JSON_TYPE } from '../rest/api-request.ts'
import { joinHeaders } from '../rest/serve-http.ts'
import { findSubresource } from '../rest/resource-request.ts'
import { authorizeRequest } from './authorize-request.ts'
import type { AccessDeps } from './authorize-request.ts'
import { withoutTokenProtocol } from './token-protocol.ts'

export interface UpgradeDeps extends AccessDeps {
  readonly backends: Backends
  readonly clock: Clock
  readonly log: Logger
}

/** A request that asks for another protocol, with its connection. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What came after its headers. */
  readonly head: Buffer
  readonly user: RequestUser
}

// Parity: an idle shell stays this long.
const IDLE_MS = 4 * 3_600_000
// The log of a pod streams without another protocol.
const UPGRADED = /\/(?:attach|exec|portforward|proxy(?:\/[^?]*)?)(?:\?|$)/

/** Whether another protocol can be spoken at a path at all; elsewhere the header is ignored. */
export function canUpgrade(target: string): boolean {
  return UPGRADED.test(target)
}

/** Connects a client with the kubelet or pod that it wants to speak to, until either leaves or the signal aborts. Never rejects. */
export async function serveUpgrade(deps: UpgradeDeps, upgrade: UpgradeRequest, signal: AbortSignal): Promise<void> {
  const { request, socket, head } = upgrade
  socket.on('error', () => {})
  try {
    const backend = findBackend(deps, upgrade)
    const target = { connect: backend.connect, method: request.method ?? 'GET', path: backend.path }
    const headers = changedHeaders(request, backend)
    const { clock } = deps
    await proxyUpgrade({ request, socket, head, target: { ...target, headers }, idleMs: IDLE_MS, clock, signal })
  } catch (error) {
    const reason = error instanceof UpgradeError ? error.cause : error
    if (reason instanceof ApiError) return answer(socket, reason)
    deps.log.warn('a stream of the API failed', { target: request.url?.slice(0, 500), error })
    // Anything else may have come after the other protocol began, when there is no way to say it.
    if (error instanceof UpgradeError) answer(socket, internalError(error.message, { cause: error }))
    else socket.destroy()
  }
}

function findBackend(deps: UpgradeDeps, { request, user }: UpgradeRequest): Backend {
  const { method = 'GET', url = '/' } = request
  const headers = joinHeaders(request)
  const { info } = authorizeRequest(deps, { method, target: url, headers, user })
  const resource = info.isResource ? findResource(info.group, info.version, info.resource) : undefined
  const subresource = resource && findSubresource(resource, info)
  const backend = subresource?.isPassedOn === true ? deps.backends.find(info, headers) : undefined
  if (backend === undefined) throw pathNotFound()
  return backend
}

/** What concerns only the API is not passed on. */
function changedHeaders(request: IncomingMessage, { host }: Backend): Record<string, string | undefined> {
  const own = Object.keys(request.headers).filter((name) => name.startsWith('impersonate-'))
  const protocols = request.headers['sec-websocket-protocol']
  return {
    authorization: undefined,
    ...Object.fromEntries(own.map((name) => [name, undefined])),
    host,
    ...(protocols !== undefined && { 'sec-websocket-protocol': withoutTokenProtocol(protocols) }),
  }
}

function answer(socket: Duplex, { status }: ApiError): void {
  answerUpgrade(socket, { status: status.code, headers: { 'content-type': JSON_TYPE }, body: JSON.stringify(status) })
}
