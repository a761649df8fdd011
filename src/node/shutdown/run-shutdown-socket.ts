import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { prepareServingSocket } from '../../system/files/serving-socket.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { NodeShutdown } from './node-shutdown.ts'

export interface ShutdownSocketDeps {
  readonly shutdown: Pick<NodeShutdown, 'begin' | 'cancel' | 'isShuttingDown'>
  readonly path: string
  readonly log: Logger
  readonly onListening?: () => void
}

// No client needs more at a time, and each may stay as long as pods take to end.
const MOST_CALLERS = 16

/**
 * Takes the commands of "deckhand shutdown" on a socket that only root can reach: one line from the caller, "begin", "cancel" or "state"; lines of
 * JSON back, {"line": what is being done}, and {"end": how it went} as the last.
 */
export async function runShutdownSocket(deps: ShutdownSocketDeps, signal: AbortSignal): Promise<void> {
  const { path, log } = deps
  const server = createServer()
  server.maxConnections = MOST_CALLERS
  const callers = new Set<Socket>()
  server.on('connection', (socket) => {
    callers.add(socket)
    socket.on('close', () => callers.delete(socket))
    socket.on('error', () => {}) // A client that leaves does not stop the shutdown.
    serve(deps, socket)
  })
  try {
    await listen(server, path)
    deps.onListening?.()
    await waitForShared(new Promise<never>(() => {}), signal)
  } catch (error) {
    signal.throwIfAborted()
    log.warn('cannot take commands to shut the node down', { path, error })
  } finally {
    server.close()
    for (const socket of callers) socket.destroy()
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const socket = await prepareServingSocket(path)
  server.listen(socket.temporaryPath)
  await once(server, 'listening')
  await socket.publish()
}

function serve({ shutdown, log }: ShutdownSocketDeps, socket: Socket): void {
  const send = (message: object) => void (socket.writable && socket.write(`${JSON.stringify(message)}\n`))
  const answer = async (command: string) => {
    if (command === 'begin') {
      const isDone = await shutdown.begin('command', (line) => send({ line }))
      return isDone ? 'done' : 'cancelled'
    }
    if (command === 'cancel') return (await shutdown.cancel()) ? 'done' : 'nothing'
    if (command === 'state') return shutdown.isShuttingDown ? 'shutting down' : 'running'
    return 'unknown'
  }
  const lines = createInterface(socket)
  lines.on('error', () => {}) // It passes on those of the socket.
  lines.once('line', (command) => {
    answer(command).then(
      (end) => {
        send({ end })
        socket.end()
      },
      (error: unknown) => {
        log.error('cannot do what was asked for on the socket', { command, error })
        socket.destroy()
      },
    )
  })
}
