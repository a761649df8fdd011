import { prepareServingSocket } from '../../system/files/serving-socket.ts'
import { listenUntil } from '../http/listen.ts'
import { createPlainServer } from '../http/run-plain-server.ts'
import type { AnsweringDeps } from '../http/run-plain-server.ts'

export interface SocketServerDeps extends AnsweringDeps {
  readonly name: string
  readonly path: string
}

const RETRY_MS = 10_000

/**
 * Serves HTTP on a unix socket for root alone, until the signal aborts. A socket that cannot be made is tried again: the node works
 * without it.
 */
export async function runSocketServer(deps: SocketServerDeps, signal: AbortSignal): Promise<void> {
  const { name, path, clock, log } = deps
  for (;;) {
    try {
      await serve(deps, signal)
      return
    } catch (error) {
      signal.throwIfAborted()
      log.error('cannot serve on a socket, will try again', { server: name, path, error })
    }
    await clock.sleep(RETRY_MS, signal)
  }
}

async function serve(deps: SocketServerDeps, signal: AbortSignal): Promise<void> {
  const { name, path, clock, log } = deps
  const socket = await prepareServingSocket(path, { socketMode: 0o600 })
  const { server, connections } = createPlainServer(deps, signal)
  // No client connects before it is published: it has another name until then, and its directory is root's.
  const begin = () => void server.listen({ path: socket.temporaryPath })
  const onListening = async () => {
    await socket.publish()
    log.info('serves on a socket', { server: name, path })
  }
  await listenUntil(server, connections, { name, begin, onListening, clock, log }, signal)
}
