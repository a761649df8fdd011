import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { ClientConnections } from '../../protocols/streams/client-connections.ts'

export interface ListenOptions extends Omit<ListenUntilOptions, 'begin' | 'onListening'> {
  readonly address: string
  /** 0 takes any that is free. */
  readonly port: number
  readonly onListening?: ((port: number) => void) | undefined
}

interface ListenUntilOptions {
  readonly name: string
  /** Makes the server listen. */
  readonly begin: (server: Server) => void
  readonly clock: Clock
  readonly log: Logger
  readonly onListening?: (() => void | Promise<void>) | undefined
}

// What is being answered gets this long when the agent leaves.
const STOP_MS = 300

/** Listens on a port until the signal aborts. */
export async function listenOnPort(
  server: Server,
  connections: ClientConnections,
  options: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name, address, port, log } = options
  const begin = () => void server.listen(port, address)
  const onListening = () => {
    const bound = (server.address() as AddressInfo).port
    log.info('listening', { server: name, address, port: bound })
    options.onListening?.(bound)
  }
  await listenUntil(server, connections, { ...options, begin, onListening }, signal)
}

/** Listens until the signal aborts; then gives what is being answered a moment. */
export async function listenUntil(
  server: Server,
  connections: ClientConnections,
  { name, begin, clock, log, onListening }: ListenUntilOptions,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  server.once('error', failed.reject)
  begin(server)
  await Promise.race([once(server, 'listening', { signal }), failed.promise])
  server.off('error', failed.reject)
  // A connection that cannot be taken, for want of a descriptor or because it is gone already, is no reason to leave the others.
  server.on('error', (error) => log.warn('cannot take a connection', { server: name, error }))
  const left = Promise.withResolvers<void>()
  const leave = () => left.resolve()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    await onListening?.()
    await left.promise
  } finally {
    signal.removeEventListener('abort', leave)
    await close(server, connections, clock)
  }
}

async function close(server: Server, connections: ClientConnections, clock: Clock): Promise<void> {
  using scope = new AbortScope(new AbortController().signal)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  await Promise.race([closed, clock.sleep(STOP_MS, scope.signal)])
  connections.destroyAll()
  await closed
}
