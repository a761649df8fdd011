import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, isIPv6 } from 'node:net'
import type { Clock } from '../../../base/async/clock.ts'
import { withDeadline } from '../../../base/async/deadline.ts'
import { AnswerCache } from './answer-cache.ts'
import { formatQuestion, parseReply, RCODES } from './dns-message.ts'
import type { DnsQuestion, DnsReply } from './dns-message.ts'

export interface ForwarderDeps {
  readonly clock: Clock
  /** Other servers, the first one first; without our own address. May have a port, as in "127.0.0.1#5353". */
  readonly servers: () => Promise<readonly string[]>
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
}

const ONE_SERVER_MS = 2000
const ALL_MS = 4500
const FAILED: DnsReply = { rcode: RCODES.SERVFAIL }
const DNS_PORT = 53

/** Asks other servers about names that are not the cluster's, each question once at a time, and remembers what they said. */
export class Forwarder {
  readonly #deps: ForwarderDeps
  readonly #cache: AnswerCache
  readonly #asking = new Map<string, Promise<DnsReply>>()

  constructor(deps: ForwarderDeps) {
    this.#deps = deps
    this.#cache = new AnswerCache(deps.clock)
  }

  /** Never fails: what no server answers is answered with SERVFAIL. */
  async ask(question: DnsQuestion, wantsDnssec: boolean, signal: AbortSignal): Promise<DnsReply> {
    const key = `${question.name.toLowerCase()} ${question.type} ${wantsDnssec}`
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const running = this.#asking.get(key)
    if (running !== undefined) return await running
    const asked = this.#askAll(question, wantsDnssec, signal).finally(() => this.#asking.delete(key))
    this.#asking.set(key, asked)
    const reply = await asked
    this.#cache.put(key, reply)
    return reply
  }

  async #askAll(question: DnsQuestion, wantsDnssec: boolean, signal: AbortSignal): Promise<DnsReply> {
    const { clock } = this.#deps
    const end = clock.monotonic() + ALL_MS
    let last = FAILED
    for (const server of await this.#deps.servers().catch(() => [])) {
      const ms = Math.min(ONE_SERVER_MS, end - clock.monotonic())
      if (ms <= 0) break
      try {
        const options = { clock, ms, what: `the DNS server ${server}` }
        const reply = await withDeadline(options, (s) => this.#askOne(server, question, wantsDnssec, s), signal)
        if (reply.rcode !== RCODES.SERVFAIL && reply.rcode !== RCODES.REFUSED) return reply
        last = reply
      } catch {
        if (signal.aborted) return FAILED
      }
    }
    return last
  }

  async #askOne(server: string, question: DnsQuestion, wantsDnssec: boolean, signal: AbortSignal): Promise<DnsReply> {
    const id = Math.floor(this.#deps.random() * 65_536)
    const [address = '', port = DNS_PORT] = server.split('#')
    const target = { address, port: Number(port) }
    const bytes = formatQuestion(id, question, wantsDnssec)
    const read = (answer: Buffer) => parseReply(answer, id, question)
    const { reply, isTruncated } = await askByUdp(target, bytes, read, signal)
    if (!isTruncated) return reply
    return (read(await askByTcp(target, bytes, signal)) ?? { reply: FAILED }).reply
  }
}

interface Target {
  readonly address: string
  readonly port: number
}

async function askByUdp<T>(
  { address, port }: Target,
  bytes: Buffer,
  read: (answer: Buffer) => T | undefined,
  signal: AbortSignal,
): Promise<T> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    return await new Promise<T>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      socket.on('error', reject)
      // What is no answer to our question may be forged: it is passed over.
      socket.on('message', (answer) => {
        const found = read(answer)
        if (found !== undefined) resolve(found)
      })
      // A connected socket hears its server alone, and learns at once when no server listens there.
      // Not as a callback, which Node calls too when there is no way to the server, as without a network.
      socket.once('connect', () => socket.send(bytes))
      socket.connect(port, address)
    })
  } finally {
    socket.close()
  }
}

async function askByTcp({ address, port }: Target, bytes: Buffer, signal: AbortSignal): Promise<Buffer> {
  const socket = connect({ host: address, port })
  try {
    await once(socket, 'connect', { signal })
    const length = Buffer.alloc(2)
    length.writeUInt16BE(bytes.length)
    socket.write(Buffer.concat([length, bytes]))
    let got: Buffer = Buffer.alloc(0)
    while (got.length < 2 || got.length < 2 + got.readUInt16BE(0)) {
      const [chunk] = (await once(socket, 'data', { signal })) as [Buffer]
      got = Buffer.concat([got, chunk])
    }
    return got.subarray(2, 2 + got.readUInt16BE(0))
  } finally {
    socket.destroy()
  }
}
