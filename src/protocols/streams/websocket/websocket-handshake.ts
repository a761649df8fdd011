import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { formatHead } from '../upgrade/answer-upgrade.ts'

// From RFC 6455.
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const KEY = /^[A-Za-z0-9+/]{22}==$/

/** The protocols that a request for a WebSocket offers, in its order; undefined when it asks for something else. */
export function listWebSocketProtocols(headers: IncomingHttpHeaders): string[] | undefined {
  const upgrades = headers.connection?.toLowerCase().split(/[ ,]+/).includes('upgrade') === true
  if (!upgrades || headers.upgrade?.toLowerCase() !== 'websocket') return undefined
  const offered = headers['sec-websocket-protocol'] ?? ''
  return offered.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
}

/** What is wrong with a request for a WebSocket, in words. */
export function findHandshakeFault(headers: IncomingHttpHeaders): string | undefined {
  if (headers['sec-websocket-version'] !== '13') return 'Cannot open a WebSocket: expected version 13'
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) return 'Cannot open a WebSocket: expected a key of 16 bytes'
  return undefined
}

/** The answer that opens the WebSocket. */
export function formatHandshake(headers: IncomingHttpHeaders, protocol: string | undefined): string {
  const answer = {
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Accept': computeAcceptKey(headers['sec-websocket-key'] ?? ''),
    ...(protocol === undefined ? {} : { 'Sec-WebSocket-Protocol': protocol }),
  }
  return formatHead(101, Object.entries(answer).flat())
}

/** What proves that the server has understood. */
export function computeAcceptKey(key: string): string {
  return createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64')
}
