import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { Clock } from '../../base/async/clock.ts'
import { prepareServingSocket } from '../../system/files/serving-socket.ts'
import type { ServingSocket } from '../../system/files/serving-socket.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { GrpcService } from './to-grpc-service.ts'
import { toError } from '../../base/telemetry/error-text.ts'

export interface GrpcServerDeps {
  readonly name: string
  readonly socketPath: string
  readonly services: readonly GrpcService[]
  readonly clock: Clock
  readonly log: Logger
  /** Makes a place for the socket; unset: in a directory for root and its group only. */
  readonly prepare?: (path: string) => Promise<ServingSocket>
  /** Clients can connect from now on. */
  readonly onListening?: () => void
  /** It does not serve; it will be tried again. */
  readonly onFailed?: (error: Error) => void
}

const RETRY_MS = 10_000

/**
 * Serves gRPC on a unix socket until the signal aborts. A socket that cannot be made is tried again: the node works without it. Its
 * file stays at the end: the next server puts its own in its place.
 */
export async function runGrpcServer(deps: GrpcServerDeps, signal: AbortSignal): Promise<void> {
  const { name, socketPath, clock, log } = deps
  for (;;) {
    try {
      await serve(deps, signal)
    } catch (error) {
      signal.throwIfAborted()
      deps.onFailed?.(toError(error))
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
