import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { listTunnelledProtocols, serveSpdyTunnel } from '../../../protocols/streams/spdy/serve-spdy-tunnel.ts'
import { listWebSocketProtocols } from '../../../protocols/streams/websocket/websocket-handshake.ts'
import { findNewestSandbox, requirePod } from './find-running-container.ts'
import { HttpError } from '../../http/error-answer.ts'
import type { PodView } from '../pod-view.ts'
import type { Route, RouteRequest } from '../../http/route.ts'
import { createStreamRoute, proxyToRuntime, toProxied } from './stream-route.ts'
import type { StreamRouteDeps } from './stream-route.ts'
import { toStreamServer } from '../../http/stream-server.ts'

export interface PortForwardDeps extends StreamRouteDeps {
  readonly views: () => readonly PodView[]
  readonly calls: Pick<CriCalls, 'listPodSandbox' | 'portForward'>
  /** The feature gate ExtendWebSocketsToKubelet: clients may speak SPDY inside a WebSocket. */
  readonly webSockets: boolean
}

/** /portForward: carries connections to ports inside a pod. */
export function createPortForwardRoutes(deps: PortForwardDeps): Route[] {
  return createStreamRoute(deps, {
    name: 'portForward',
    paths: ['/portForward/:namespace/:pod', '/portForward/:namespace/:pod/:uid'],
    prepare(request) {
      const tunnels = deps.webSockets && listTunnelledProtocols(request.raw).length > 0
      const port = tunnels ? [] : parsePorts(request)
      const pod = requirePod(deps.views(), request)
      const { uid } = request.parameters
      if (uid !== undefined && uid !== pod.metadata.uid) throw new HttpError(404, 'pod not found')
      return async (client) => {
        const podSandboxId = await findNewestSandbox(deps.calls, pod, request.signal)
        const { url } = await deps.calls.portForward({ podSandboxId, port }, request.signal)
        const server = toStreamServer(url, deps.dial)
        if (tunnels) deps.onWebSocket?.('portforward')
        return tunnels
          ? await serveSpdyTunnel(toProxied(deps, client, server))
          : await proxyToRuntime(deps, client, server)
      }
    },
  })
}

/** Over SPDY each stream names its port; an old WebSocket has all ports in the query. */
function parsePorts({ raw, query }: RouteRequest): number[] {
  if (listWebSocketProtocols(raw.headers) === undefined) return []
  const texts = query.getAll('port').flatMap((text) => text.split(','))
  if (texts.length === 0) throw new HttpError(400, 'query parameter "port" is required')
  return texts.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
    if (!(port >= 1 && port <= 65_535)) throw new HttpError(400, `Cannot use "${text}" as a port: expected 1 to 65535`)
    return port
  })
}
