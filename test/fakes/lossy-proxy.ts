import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** Passes connections on to a port of loopback, until it loses them: then nothing comes through, and neither side hears of it. */
export async function startLossyProxy(port: number) {
  const pairs: [Socket, Socket][] = []
  const server = createServer((client) => {
    const target = connect({ host: '127.0.0.1', port })
    pairs.push([client, target])
    for (const socket of [client, target]) socket.on('error', () => {})
    client.pipe(target)
    target.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => pairs.length,
    /** Those that there are; later ones are passed on. */
    lose() {
      for (const [client, target] of pairs) {
        client.unpipe()
        target.unpipe()
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of pairs.flat()) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
