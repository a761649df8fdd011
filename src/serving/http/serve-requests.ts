import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { nextTurn } from '../../base/async/next-turn.ts'
import type { RequestServer } from './request-server.ts'

/** Gives the requests of a listening server to those who answer them. */
export function serveRequests(
  server: Pick<Server | SecureServer, 'on'>,
  requests: Pick<RequestServer, 'handle' | 'upgrade'>,
  signal: AbortSignal,
): void {
  const last = new WeakMap<Socket, Promise<void>>()
  // Answers go out in the order of the requests anyway. A client that sends a hundred requests at once has them answered in a hundred
  // turns, and others have theirs in between.
  const inTurn = async (before: Promise<void>, request: IncomingMessage, response: ServerResponse) => {
    await before
    await nextTurn()
    if (!response.destroyed) await requests.handle(request, response, signal)
  }
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const before = last.get(socket)
    const answered =
      before === undefined ? requests.handle(request, response, signal) : inTurn(before, request, response)
    const forgotten = answered.then(() => {
      if (last.get(socket) === forgotten) last.delete(socket)
    })
    last.set(socket, forgotten)
  }
  server.on('request', handle)
  // No client is asked for the rest of a request before it is authenticated.
  server.on('checkContinue', handle)
  server.on('upgrade', (request: IncomingMessage, socket, head) => void requests.upgrade(request, socket, head, signal))
}
