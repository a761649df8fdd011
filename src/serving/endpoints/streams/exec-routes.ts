import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { allContainers } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { CommandStreams } from '../../../protocols/streams/open-remote-command.ts'
import { REMOTE_COMMAND_PROTOCOL, serveRemoteCommand } from '../../../protocols/streams/serve-remote-command.ts'
import { listWebSocketProtocols } from '../../../protocols/streams/websocket/websocket-handshake.ts'
import { findRunningContainer, requirePod } from './find-running-container.ts'
import { HttpError } from '../../http/error-answer.ts'
import type { PodView } from '../pod-view.ts'
import type { Route, RouteRequest } from '../../http/route.ts'
import { createStreamRoute, proxyToRuntime } from './stream-route.ts'
import type { StreamClient, StreamRouteDeps } from './stream-route.ts'
import { toStreamServer } from '../../http/stream-server.ts'
import type { StreamServer } from '../../http/stream-server.ts'

export interface ExecDeps extends StreamRouteDeps {
  readonly views: () => readonly PodView[]
  readonly calls: Pick<CriCalls, 'listContainers' | 'exec' | 'attach'>
  /** The feature gate ExtendWebSocketsToKubelet: we speak the newest protocol of clients over WebSockets, which runtimes do not. */
  readonly webSockets: boolean
}

type Ask = (containerId: string, streams: CommandStreams, request: RouteRequest) => Promise<{ readonly url: string }>

/** /exec: runs a command in a container. */
export function createExecRoutes(deps: ExecDeps): Route[] {
  const ask: Ask = (containerId, streams, { query, signal }) =>
    deps.calls.exec({ containerId, cmd: query.getAll('command'), ...streams }, signal)
  return createCommandRoutes(deps, { name: 'exec', ask, ttyOf: (_, { query }) => isSet(query, 'tty') })
}

/** /attach: meets the process that the container runs anyway. Whether it has a terminal was decided when it was started. */
export function createAttachRoutes(deps: ExecDeps): Route[] {
  const ask: Ask = (containerId, streams, { signal }) => deps.calls.attach({ containerId, ...streams }, signal)
  const ttyOf = (pod: Pod, { parameters }: RouteRequest) =>
    allContainers(pod).some(({ container }) => container.name === parameters['container'] && container.tty === true)
  return createCommandRoutes(deps, { name: 'attach', ask, ttyOf })
}

interface CommandEndpoint {
  readonly name: 'exec' | 'attach'
  readonly ask: Ask
  readonly ttyOf: (pod: Pod, request: RouteRequest) => boolean
}

function createCommandRoutes(deps: ExecDeps, { name, ask, ttyOf }: CommandEndpoint): Route[] {
  return createStreamRoute(deps, {
    name,
    paths: [`/${name}/:namespace/:pod/:container`, `/${name}/:namespace/:pod/:uid/:container`],
    prepare(request) {
      const asked = parseStreams(request.query)
      const pod = requirePod(deps.views(), request)
      const streams = withTerminal(asked, ttyOf(pod, request))
      return async (client) => {
        const containerId = await findRunningContainer(deps.calls, pod, request)
        const { url } = await ask(containerId, streams, request)
        return await serve(deps, client, { name, streams, server: toStreamServer(url, deps.dial) })
      }
    },
  })
}

async function serve(
  deps: ExecDeps,
  client: StreamClient,
  {
    name,
    streams,
    server,
  }: Pick<CommandEndpoint, 'name'> & { readonly streams: CommandStreams; readonly server: StreamServer },
): Promise<string> {
  const { request, socket, head } = client
  const offered = listWebSocketProtocols(request.raw.headers) ?? []
  if (!deps.webSockets || !offered.includes(REMOTE_COMMAND_PROTOCOL)) {
    const outputs = Number(streams.stdout) + Number(streams.stderr)
    return await proxyToRuntime(deps, client, server, { outputs })
  }
  const { idleMs, clock } = deps
  const { raw, signal } = request
  deps.onWebSocket?.(name)
  return await serveRemoteCommand({ request: raw, socket, head, server, streams, idleMs, clock, signal })
}

function parseStreams(query: URLSearchParams): Omit<CommandStreams, 'tty'> {
  const streams = { stdin: isSet(query, 'input'), stdout: isSet(query, 'output'), stderr: isSet(query, 'error') }
  if (streams.stdin || streams.stdout || (streams.stderr && !isSet(query, 'tty'))) return streams
  throw new HttpError(400, 'you must specify at least 1 of stdin, stdout, stderr')
}

/** A terminal shows both outputs as one. */
function withTerminal(streams: Omit<CommandStreams, 'tty'>, tty: boolean): CommandStreams {
  return { ...streams, stderr: streams.stderr && !tty, tty }
}

function isSet(query: URLSearchParams, name: string): boolean {
  return query.get(name) === '1'
}
