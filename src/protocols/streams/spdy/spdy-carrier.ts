import type { Duplex } from 'node:stream'
import type { Clock } from '../../../base/async/clock.ts'
import { computeCommandStatus, UNREPORTED } from '../compute-command-status.ts'
import type { Directions } from '../exchange.ts'
import type { IdleWatch } from '../idle-watch.ts'
import { readChunks } from '../read-chunks.ts'
import { SpdyDecoder } from './spdy-decoder.ts'
import type { SpdyEvent } from './spdy-decoder.ts'
import { encodeDataHead, encodePing, encodeSpdyEvent, SPDY_FIN, SPDY_TYPES } from './spdy-frames.ts'
import { endWriting, writeBytes } from '../write-bytes.ts'

/** A command that is run over a SPDY connection. */
export interface SpdyCommand {
  /** How many outputs it has: one in a terminal, else up to two. */
  readonly outputs: number
  /** The version of the protocol of its streams, such as v4.channel.k8s.io. */
  readonly protocol: string
}

interface Carried {
  readonly client: Duplex
  readonly target: Duplex
  readonly head: Uint8Array
  readonly command: SpdyCommand | undefined
  readonly clock: Clock
}

// All clients open the stream for the status first.
const ERROR_STREAM = 1
// Even numbers are of the server's side; no server comes so far.
const OUR_PING = 2 ** 31 - 2
// Clients ask again only when they were answered.
const MOST_OWED = 16
// A client that gets nothing may take the connection for idle, so of a target that has been quiet for so long one ping is passed on.
const QUIET_MS = 60_000

/** Carries the frames of a SPDY connection from each side to the other; pings of the client are answered on the way. */
export class SpdyCarrier implements Directions {
  readonly #carried: Carried
  readonly #over = new Set<number>()
  readonly #owed: number[] = []
  #heardAt: number
  #isDelivering = false
  #isSending = false
  #sends = 0
  #stuckSend: number | undefined

  constructor(carried: Carried) {
    this.#carried = carried
    this.#heardAt = carried.clock.monotonic()
  }

  /** To be called every few seconds. Finds out whether a client that we cannot read from now is still there, and ends what is stuck. */
  pulse(): void {
    this.#answerPings()
    const { client } = this.#carried
    // Writing to a connection that is closed fails.
    if (this.#isSending && isWritable(client) && !client.writableNeedDrain) client.write(encodePing(OUR_PING))
    this.#endIfStuck()
  }

  fromClient = async (idle: IdleWatch): Promise<void> => {
    const { target } = this.#carried
    const decoder = new SpdyDecoder()
    for await (const chunk of this.#clientChunks()) {
      idle.touch()
      for (const event of decoder.decode(chunk)) {
        const ping = readPing(event)
        if (ping === undefined || this.#mayPass(ping)) await this.#send(event)
        else if (ping !== OUR_PING) this.#owe(ping)
      }
      idle.touch()
    }
    await endWriting(target)
  }

  fromTarget = async (idle: IdleWatch): Promise<void> => {
    const { client, target, clock } = this.#carried
    const decoder = new SpdyDecoder()
    try {
      for await (const chunk of readChunks(target)) {
        this.#isDelivering = true
        idle.touch()
        for (const event of decoder.decode(chunk)) await this.#deliver(event)
        this.#answerPings()
        this.#isDelivering = false
        this.#heardAt = clock.monotonic()
        idle.touch()
      }
      await endWriting(client)
    } catch (error) {
      // What the target said before it broke off is the client's.
      target.destroy()
      await endWriting(client)
      throw error
    }
  }

  async *#clientChunks(): AsyncGenerator<Buffer, void> {
    const { client, head } = this.#carried
    if (head.length > 0) yield Buffer.from(head)
    yield* readChunks(client)
  }

  /** What can no longer be delivered is read all the same: closing over unread bytes would take from the client what is on its way to it. */
  async #send(event: SpdyEvent): Promise<void> {
    const { target } = this.#carried
    if (target.destroyed) return
    this.#isSending = true
    this.#sends += 1
    await writeBytes(target, ...encodeSpdyEvent(event)).catch(() => {})
    this.#isSending = false
  }

  async #deliver(event: SpdyEvent): Promise<void> {
    const { client } = this.#carried
    if (event.kind === 'data' && event.fin) this.#over.add(event.stream)
    if (!client.destroyed) await writeBytes(client, ...encodeSpdyEvent(event)).catch(() => {})
  }

  /** Answers to pings of the target pass, and now and then one to a target that has nothing to say. */
  #mayPass(ping: number): boolean {
    if (ping % 2 === 0) return ping !== OUR_PING
    return !this.#isDelivering && this.#carried.clock.monotonic() - this.#heardAt >= QUIET_MS
  }

  #owe(ping: number): void {
    if (this.#owed.length < MOST_OWED) this.#owed.push(ping)
    this.#answerPings()
  }

  /** Only to a client that reads: answers must not pile up for one that does not. */
  #answerPings(): void {
    const { client } = this.#carried
    while (this.#owed.length > 0 && isWritable(client) && !client.writableNeedDrain)
      client.write(encodePing(this.#owed.shift() ?? 0))
  }

  /**
   * Breaks off when the command has said all that it ever will, and yet does not take its input, since the last call. Some runtimes (containerd
   * 1.6) do not notice the end of a command whose input was never read, and would never report how it ended.
   */
  #endIfStuck(): void {
    const { client, target, command } = this.#carried
    const isSilent = command !== undefined && command.outputs > 0 && this.#over.size >= command.outputs
    const send = this.#isSending && isSilent ? this.#sends : undefined
    if (command !== undefined && send !== undefined && send === this.#stuckSend) {
      if (isWritable(client)) for (const part of encodeStatus(command.protocol)) client.write(part)
      target.destroy(new Error(UNREPORTED))
    }
    this.#stuckSend = send
  }
}

function encodeStatus(protocol: string): readonly Uint8Array[] {
  const version = Number(/^v(\d+)\./.exec(protocol)?.[1] ?? 1)
  const text = version >= 4 ? computeCommandStatus({ version, reported: '', failure: UNREPORTED }) : UNREPORTED
  const bytes = Buffer.from(text)
  return [encodeDataHead(ERROR_STREAM, bytes.length, SPDY_FIN), bytes]
}

function readPing(event: SpdyEvent): number | undefined {
  const isPing = event.kind === 'control' && event.type === SPDY_TYPES.ping && event.content.length === 4
  return isPing ? event.content.readUInt32BE() : undefined
}

function isWritable(stream: Duplex): boolean {
  return !stream.destroyed && !stream.writableEnded
}
