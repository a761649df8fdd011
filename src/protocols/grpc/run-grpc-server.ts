import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import type { Clock } from '../../base/async/clock.ts'
import { prepareServingSocket } from '../../system/files/serving-socket.ts'
import type { ServingSocket } from '../../system/files/serving-socket.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

/** One service of a server. */
export interface GrpcService {
  readonly definition: ServiceDefinition
  readonly implementation: UntypedServiceImplementation
}

export interface GrpcServerDeps {
  readonly name: string
  readonly socketPath: string
  readonly services: readonly GrpcService[]
  readonly clock: Clock
  readonly log: Logger
  /** Makes a place for the socket, where the usual way is not the right one. */
  readonly prepare?: (path: string) => Promise<ServingSocket>
  /** Whoever knows the path can connect from now on. */
  readonly onListening?: () => void
  /** It does not serve, and is tried again. */
  readonly onFailed?: (error: Error) => void
}

const RETRY_MS = 10_000

/**
 * Serves gRPC on a unix socket until the signal aborts. One that cannot be made is tried again: the node does without. The socket stays
 * behind: who comes next puts its own in its place.
 */
export async function runGrpcServer(deps: GrpcServerDeps, signal: AbortSignal): Promise<void> {
  const { name, socketPath, clock, log } = deps
  for (;;) {
    try {
      await serve(deps, signal)
    } catch (error) {
      signal.throwIfAborted()
      deps.onFailed?.(Error.isError(error) ? error : new Error(String(error)))
      log.error('cannot serve on a socket, will try again', { server: name, path: socketPath, error })
    }
    await clock.sleep(RETRY_MS, signal)
  }
}

async function serve(deps: GrpcServerDeps, signal: AbortSignal): Promise<void> {
  const { name, socketPath, services, log } = deps
  const server = new Server({ 'grpc.enable_channelz': 0 })
  for (const { definition, implementation } of services) server.addService(definition, implementation)
  try {
    const socket = await (deps.prepare ?? prepareServingSocket)(socketPath)
    await listen(server, socket.temporaryPath)
    await socket.publish()
    signal.throwIfAborted()
    log.info('serves on a socket', { server: name, path: socketPath })
    deps.onListening?.()
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  } finally {
    server.forceShutdown()
  }
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure()
    server.bindAsync(`unix://${path}`, credentials, (error) => (error === null ? resolve() : reject(error)))
  })
}
