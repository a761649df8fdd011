import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { RequestServer } from './request-server.ts'

/** Gives the requests of a listening server to those who answer them. */
export function serveRequests(server: Server | SecureServer, requests: RequestServer, signal: AbortSignal): void {
  const handle = (request: IncomingMessage, response: ServerResponse) => void requests.handle(request, response, signal)
  server.on('request', handle)
  // Nobody is asked for the rest of a request before it is known who sends it.
  server.on('checkContinue', handle)
  server.on('upgrade', (request, socket, head) => void requests.upgrade(request, socket, head, signal))
}
