import { connect as connectPlain, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { internalError } from '../api-error.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

const CONNECT_MS = 10_000

/** What is called, and whether with TLS. */
export interface DialTarget {
  readonly address: string
  readonly port: number
  readonly tls?: ConnectionOptions
}

/** Opens a connection. Throws an ApiError that names the address when nothing answers there, or not the expected server. */
export async function dialBackend(clock: Clock, target: DialTarget, signal: AbortSignal): Promise<Socket> {
  const host = formatHost(target.address, target.port)
  try {
    return await withDeadline(
      { clock, ms: CONNECT_MS, what: `a connection to ${host}` },
      (s) => open(target, s),
      signal,
    )
  } catch (error) {
    throw internalError(`error dialing backend: ${host}: ${errorMessage(error)}`, { cause: error })
  }
}

/** As in "10.0.0.1:80" or "[fd00::1]:80". */
export function formatHost(address: string, port: number): string {
  return `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
}

async function open({ address, port, tls }: DialTarget, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const place = { host: address, port, noDelay: true }
  const socket =
    tls === undefined
      ? connectPlain(place, resolve)
      : connectTls({ ...tls, ...place, ALPNProtocols: ['http/1.1'] }, resolve)
  const giveUp = () => reject(signal.reason as Error)
  socket.once('error', reject)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    signal.throwIfAborted()
    await promise
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
    socket.off('error', reject)
  }
}
