/**
 * Runs inside a lab's network and listens on a unix socket, which reaches across network namespaces: the first line of a
 * connection names a host and port of the lab, and everything after it is carried there and back.
 * Usage: lab-forwarder.ts SOCKET
 */
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import process from 'node:process'

const LONGEST_FIRST_LINE = 300

const server = createServer({ allowHalfOpen: true }, (client) => {
  let head = Buffer.alloc(0)
  client.on('error', () => client.destroy())
  client.on('data', function read(chunk: Buffer) {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\n')
    if (end < 0) return head.length > LONGEST_FIRST_LINE ? client.destroy() : undefined
    client.off('data', read)
    client.pause()
    forward(client, head.subarray(0, end).toString(), head.subarray(end + 1))
  })
})
// Clients may come faster than one busy process takes them.
server.listen({ path: process.argv[2], backlog: 4096 })

function forward(client: Socket, target: string, rest: Buffer): void {
  const colon = target.lastIndexOf(':')
  const upstream = connect({
    host: target.slice(0, colon),
    port: Number(target.slice(colon + 1)),
    allowHalfOpen: true,
    noDelay: true,
  })
  const close = () => {
    client.destroy()
    upstream.destroy()
  }
  upstream.on('error', close)
  client.on('close', close)
  upstream.on('close', close)
  if (rest.length > 0) upstream.write(rest)
  client.pipe(upstream)
  upstream.pipe(client)
}
