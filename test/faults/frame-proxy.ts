/**
 * Stands between an agent and its API, over TLS and HTTP/2, and breaks what the API sends frame by frame, as the file FAULT says: "none", "goaway",
 * "reset", "stalled", "half-open" or "truncated". A fault hits every connection that is there, and later ones after some frames but for "half-open".
 * Usage: frame-proxy.ts KUBECONFIG PORT FAULT
 */
import { readFileSync, watchFile } from 'node:fs'
import process from 'node:process'
import { connect, createServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { selfSigned } from '../fixtures/self-signed.ts'
import { DATA, FrameSplitter, goAway, reset } from './http2-frames.ts'
import type { Http2Frame } from './http2-frames.ts'

const [kubeconfig = '', port = '', faultFile = ''] = process.argv.slice(2)
const POLL_MS = 50
// Enough for a connection to be used before it breaks.
const FRAMES_BEFORE_FAULT = 12

let fault = 'none'
const connections = new Set<Connection>()

/** One connection of the agent with the one to the API that belongs to it. */
class Connection {
  readonly #near: TLSSocket
  readonly #far: TLSSocket
  readonly #splitter = new FrameSplitter()
  readonly #dead = new Set<number>()
  #frames = 0
  #held: Buffer[] = []
  /** The fault that this one has had, so that it is not hit twice by the same. */
  #had = 'none'
  #isSilent = false

  constructor(near: TLSSocket, far: TLSSocket) {
    this.#near = near
    this.#far = far
    near.on('data', (bytes: Buffer) => void (this.#isSilent || far.write(bytes)))
    far.on('data', (bytes: Buffer) => {
      for (const frame of this.#splitter.split(bytes)) this.#pass(frame)
    })
    for (const socket of [near, far]) {
      socket.on('error', () => {})
      socket.once('close', () => this.#end())
    }
  }

  /** The fault of all has changed. */
  turn(): void {
    if (fault !== 'stalled') for (const bytes of this.#held.splice(0)) this.#near.write(bytes)
    // Only what is there: a network that loses everything for good is no fault to recover from.
    if (fault === 'half-open') this.#isSilent = true
    if (fault === 'none') this.#had = 'none'
    else this.#frames = FRAMES_BEFORE_FAULT
  }

  #pass(frame: Http2Frame): void {
    this.#frames += 1
    if (this.#isSilent) return
    const isDue = fault !== 'none' && this.#frames > FRAMES_BEFORE_FAULT
    if (isDue && fault === 'stalled' && frame.type === DATA) return void this.#held.push(frame.bytes)
    if (isDue && this.#had !== fault && this.#break(frame)) return
    if (!this.#dead.has(frame.stream)) this.#near.write(frame.bytes)
  }

  /** True when the frame has been dealt with. */
  #break({ type, stream, bytes }: Http2Frame): boolean {
    if (fault === 'goaway') this.#near.end(goAway(0))
    else if (type !== DATA) return false
    else if (fault === 'reset') {
      this.#dead.add(stream)
      this.#near.write(reset(stream))
    } else if (fault === 'truncated') this.#near.end(bytes.subarray(0, Math.ceil(bytes.length / 2)))
    else return false
    this.#had = fault
    return true
  }

  #end(): void {
    connections.delete(this)
    // Of a half-open connection neither side hears.
    if (this.#isSilent && !this.#near.destroyed) return
    this.#near.destroy()
    this.#far.destroy()
  }
}

const text = readFileSync(kubeconfig, 'utf8')
const decode = (name: string) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '', 'base64')
const upstream = {
  host: '127.0.0.1',
  port: 6443,
  ALPNProtocols: ['h2'],
  cert: decode('client-certificate-data'),
  key: decode('client-key-data'),
  ca: decode('certificate-authority-data'),
}

watchFile(faultFile, { interval: POLL_MS }, () => {
  fault = readFileSync(faultFile, 'utf8').trim()
  for (const connection of connections) connection.turn()
})
createServer({ cert: selfSigned.cert, key: selfSigned.key, ALPNProtocols: ['h2'] }, (near) => {
  near.on('error', () => {})
  near.pause()
  const far = connect(upstream, () => {
    connections.add(new Connection(near, far))
    near.resume()
  })
  far.on('error', () => near.destroy())
}).listen(Number(port), '127.0.0.1', () => console.log('ready'))
