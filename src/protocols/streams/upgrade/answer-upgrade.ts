import type { Duplex } from 'node:stream'
import { STATUS_CODES } from '../../../base/builtin/http.ts'

/** An answer in HTTP to a request that asked for another protocol. */
export interface UpgradeAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** Refuses an upgrade: says why, and closes the connection once that is sent. */
export function answerUpgrade(socket: Duplex, { status, headers = {}, body }: UpgradeAnswer): void {
  const all = {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  const head = formatHead(status, Object.entries(all).flat())
  socket.on('error', () => {})
  socket.end(`${head}${body}`, () => socket.destroy())
}

/** The first lines of an answer, with headers as they came: name, value, name, value … */
export function formatHead(status: number, rawHeaders: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
