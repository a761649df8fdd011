/**
 * Asks as a program on the node would, and prints one number.
 * traffic-client.ts request URL COUNT: the median time of a request on a connection of its own, in seconds.
 * traffic-client.ts dns ADDRESS NAME SECONDS: answers a second.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { get } from 'node:http'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import packet from 'dns-packet'
import { computeMedian } from './compute-statistics.ts'

const IN_FLIGHT = 50
const [kind, ...args] = process.argv.slice(2)
console.log(kind === 'dns' ? await measureDns(args) : await measureRequests(args))
process.exit()

async function measureRequests([url = '', count = '']: readonly string[]): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < Number(count); index++) {
    const began = performance.now()
    await new Promise<void>((resolve, reject) => {
      const request = get(url, { agent: false }, (response) => void text(response).then(() => resolve(), reject))
      request.once('error', reject)
    })
    times.push((performance.now() - began) / 1000)
  }
  return computeMedian(times) ?? 0
}

async function measureDns([address = '', name = '', seconds = '']: readonly string[]): Promise<number> {
  const socket = createSocket('udp4')
  let answers = 0
  let id = 0
  const ask = () => {
    id = (id + 1) % 65_536
    socket.send(packet.encode({ type: 'query', id, flags: 0x0100, questions: [{ type: 'A', name }] }), 53, address)
  }
  socket.on('message', (message) => {
    if ((packet.decode(message).answers ?? []).length === 0) throw new Error(`Cannot find "${name}": no answer`)
    answers += 1
    ask()
  })
  socket.bind()
  await once(socket, 'listening')
  for (let index = 0; index < IN_FLIGHT; index++) ask()
  await sleep(Number(seconds) * 1000)
  return answers / Number(seconds)
}
