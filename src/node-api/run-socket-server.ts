import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { prepareServingSocket } from '../host/serving-socket.ts'
import type { Logger } from '../telemetry/logger.ts'

/** One service of a server. */
export interface SocketService {
  readonly definition: ServiceDefinition
  readonly implementation: UntypedServiceImplementation
}

export interface SocketServerDeps {
  readonly name: string
  readonly socketPath: string
  readonly services: readonly SocketService[]
  readonly log: Logger
  /** Whoever knows the path can connect from now on. */
  readonly onListening?: () => void
}

/** Serves gRPC on a unix socket until the signal aborts. The socket stays behind: who comes next puts its own in its place. */
export async function runSocketServer(deps: SocketServerDeps, signal: AbortSignal): Promise<void> {
  const { name, socketPath, services, log } = deps
  const server = new Server({ 'grpc.enable_channelz': 0 })
  for (const { definition, implementation } of services) server.addService(definition, implementation)
  try {
    const socket = await prepareServingSocket(socketPath)
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
