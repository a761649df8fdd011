import { computeCommandStatus, UNREPORTED } from './compute-command-status.ts'
import type { Directions } from './exchange.ts'
import type { IdleWatch } from './idle-watch.ts'
import type { CommandStreams, OpenCommand } from './open-remote-command.ts'
import type { WebSocketConnection } from './websocket/websocket-connection.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** The first byte of a message says what the rest of it belongs to. */
const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const
export const ERROR_CHANNEL = CHANNELS.error
// The byte after this one names a channel on which the client sends no more.
const CLOSE_SIGNAL = 255
// A Status is a few hundred bytes.
const LONGEST_STATUS = 64 * 1024

/** The lowest channel on which we send. */
export function firstOutput({ stdout, stderr }: Pick<CommandStreams, 'stdout' | 'stderr'>): number {
  if (stdout) return CHANNELS.stdout
  return stderr ? CHANNELS.stderr : CHANNELS.error
}

/** Carries the streams of one command between the channels of a WebSocket and the streams of a SPDY connection. */
export class CommandCarrier implements Directions {
  readonly #client: WebSocketConnection
  readonly #command: OpenCommand
  /** By channel, the streams to which the client may send. Who sends before a stream is accepted is not heard. */
  readonly #inputs: ReadonlyMap<number, number>
  readonly #accepting = Promise.withResolvers<void>()
  readonly #accepted = new Set<number>()
  readonly #over = new Set<number>()
  #reported: Buffer = Buffer.alloc(0)
  #ended = false
  /** From the beginning, until the streams are accepted. */
  #waiting = true
  #sends = 0
  #stuckSend: number | undefined

  constructor(client: WebSocketConnection, command: OpenCommand) {
    this.#client = client
    this.#command = command
    const { stdin, resize } = command.streams
    const inputs = [[CHANNELS.stdin, stdin] as const, [CHANNELS.resize, resize] as const]
    this.#inputs = new Map(
      inputs.flatMap(([channel, stream]) => (stream === undefined ? [] : [[channel, stream] as const])),
    )
  }

  /** True while the command does not take what the client has sent. */
  get waiting(): boolean {
    return this.#waiting
  }

  /**
   * Breaks off when the command has said all that it ever will, and yet does not take its input, since the last call. Some runtimes (containerd
   * 1.6) do not notice the end of a command whose input was never read, and would never report how it ended.
   */
  endIfStuck(): void {
    const { stdout, stderr } = this.#command.streams
    const outputs = [stdout, stderr].filter((stream) => stream !== undefined)
    const isSilent = outputs.length > 0 && outputs.every((stream) => this.#over.has(stream))
    const send = this.#waiting && isSilent ? this.#sends : undefined
    if (send !== undefined && send === this.#stuckSend) this.#command.connection.destroy(new Error(UNREPORTED))
    this.#stuckSend = send
  }

  fromClient = async (idle: IdleWatch): Promise<void> => {
    await this.#accepting.promise
    this.#waiting = false
    let channel: number | undefined
    for await (const { bytes, first } of this.#client.pieces()) {
      // What comes after the end is read all the same: closing over unread bytes would take the status from the client.
      if (this.#ended) continue
      idle.touch()
      if (first) channel = undefined
      const content = channel === undefined ? bytes.subarray(1) : bytes
      channel ??= bytes[0]
      if (channel === CLOSE_SIGNAL) await this.#endInput(content)
      else if (channel !== undefined) await this.#send(channel, content)
      idle.touch()
    }
    // The client left.
    this.#command.connection.destroy()
  }

  fromTarget = async (idle: IdleWatch): Promise<void> => {
    let failure: string | undefined
    try {
      await this.#carryOutput(idle)
    } catch (error) {
      failure = errorMessage(error)
    } finally {
      this.#ended = true
      this.#accepting.resolve()
    }
    const status = computeCommandStatus({
      version: this.#command.version,
      reported: this.#reported.toString(),
      failure,
    })
    await this.#client.send(Uint8Array.of(CHANNELS.error), Buffer.from(status))
    this.#client.close('normal')
    this.#command.connection.destroy()
  }

  async #carryOutput(idle: IdleWatch): Promise<void> {
    const { error, stdout, stderr } = this.#command.streams
    const outputs = [error, stdout, stderr].filter((stream) => stream !== undefined)
    for await (const event of this.#command.spdy.events()) {
      idle.touch()
      if (event.kind === 'accepted') this.#accept(event.stream)
      else if (event.kind === 'over') this.#over.add(event.stream)
      else await this.#deliver(event.stream, event.bytes)
      if (outputs.every((stream) => this.#over.has(stream))) return
    }
    if (this.#reported.length === 0) throw new Error('the runtime closed the connection')
  }

  async #deliver(stream: number, bytes: Buffer): Promise<void> {
    const { error, stdout, stderr } = this.#command.streams
    if (stream === stdout) await this.#client.send(Uint8Array.of(CHANNELS.stdout), bytes)
    else if (stream === stderr) await this.#client.send(Uint8Array.of(CHANNELS.stderr), bytes)
    else if (stream === error) this.#reported = Buffer.concat([this.#reported, bytes]).subarray(0, LONGEST_STATUS)
  }

  #accept(stream: number): void {
    this.#accepted.add(stream)
    if ([...this.#inputs.values()].every((input) => this.#accepted.has(input))) this.#accepting.resolve()
  }

  async #send(channel: number, bytes: Uint8Array): Promise<void> {
    const stream = this.#inputs.get(channel)
    if (stream === undefined || this.#over.has(stream) || bytes.length === 0) return
    await this.#wait(this.#command.spdy.send(stream, bytes))
  }

  async #endInput(content: Uint8Array): Promise<void> {
    const stream = content[0] === undefined ? undefined : this.#inputs.get(content[0])
    if (stream === undefined || this.#over.has(stream)) return
    this.#over.add(stream)
    await this.#wait(this.#command.spdy.finish(stream))
  }

  /** A connection that breaks is found by who reads from it. */
  async #wait(sending: Promise<void>): Promise<void> {
    this.#waiting = true
    this.#sends += 1
    await sending.catch(() => {})
    this.#waiting = false
  }
}
