import { createGzip } from 'node:zlib'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PageMessage } from '../../messages/page-message.ts'
import type { LiveFeed } from './live-feed.ts'
import { DATA_HEADERS } from '../page-headers.ts'

/** A reader that is so far behind is cut off; it comes back and gets everything as it is then. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

/** Sends what is new as lines of JSON until the reader leaves or its session ends. */
export function serveLive(
  feed: LiveFeed,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  { isSignedIn, ended }: { readonly isSignedIn: () => boolean; readonly ended: AbortSignal },
): void {
  // Left while its parts were opened: nothing would ever end it.
  if (response.destroyed) return
  const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  response.writeHead(200, {
    ...DATA_HEADERS,
    'content-type': 'application/x-ndjson; charset=utf-8',
    ...(isPacked && { 'content-encoding': 'gzip' }),
  })
  const packer = isPacked ? createGzip() : undefined
  packer?.pipe(response)
  packer?.on('error', () => response.destroy())
  const output = packer ?? response
  const leave = () => response.destroy()
  const finish = () => {
    unsubscribe()
    output.end()
  }
  const send = (message: PageMessage) => {
    // A page that is open uses its session, until that is too old.
    if (message.kind === 'alive' && !isSignedIn()) return
    output.write(`${JSON.stringify(message)}\n`)
    packer?.flush()
    if (output.writableLength + response.writableLength > MOST_WAITING_BYTES) leave()
  }
  const unsubscribe = feed.subscribe(send)
  ended.addEventListener('abort', finish, { once: true })
  response.once('close', () => {
    unsubscribe()
    ended.removeEventListener('abort', finish)
    packer?.destroy()
  })
}
