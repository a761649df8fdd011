import type { Socket } from 'node:net'
import { decodeMessage, type DbusMessage, encodeMessage, MessageSplitter } from '../../src/system/dbus/dbus-message.ts'
import type { DbusValue } from '../../src/system/dbus/dbus-value.ts'
import { openBusSocket } from '../../src/system/dbus/open-bus-socket.ts'

/** What a method answers; undefined: nothing, ever. */
export type Answer = { readonly signature: string; readonly body: readonly DbusValue[] } | { readonly error: string }

const BUS = { path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus', destination: 'org.freedesktop.DBus' }

/** A program on a bus that owns a name, answers calls and sends signals. */
export class FakeBusService implements Disposable {
  readonly #socket: Socket
  readonly #splitter = new MessageSplitter()
  readonly #answer: (call: DbusMessage) => Answer | undefined
  readonly #replies = new Map<number, () => void>()
  /** Calls that came. */
  readonly called: DbusMessage[] = []
  #serial = 0

  private constructor(socket: Socket, answer: (call: DbusMessage) => Answer | undefined) {
    this.#socket = socket
    this.#answer = answer
    socket.on('data', (chunk: Buffer) => {
      for (const bytes of this.#splitter.push(chunk)) this.#receive(decodeMessage(bytes))
    })
    socket.resume()
  }

  static async start(
    options: { readonly address: string; readonly name?: string },
    answer: (call: DbusMessage) => Answer | undefined,
  ): Promise<FakeBusService> {
    const socket = await openBusSocket(options.address, new AbortController().signal)
    const service = new FakeBusService(socket, answer)
    await service.#ask({ ...BUS, member: 'Hello', signature: '', body: [] })
    if (options.name !== undefined) {
      await service.#ask({ ...BUS, member: 'RequestName', signature: 'su', body: [options.name, 0] })
    }
    return service
  }

  emit(signal: {
    readonly path: string
    readonly interface: string
    readonly member: string
    readonly signature: string
    readonly body: readonly DbusValue[]
    readonly destination?: string
  }): void {
    this.#send({ kind: 'signal', ...signal })
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  async #ask(call: Omit<DbusMessage, 'kind' | 'serial'>): Promise<void> {
    await new Promise<void>((resolve) => this.#replies.set(this.#send({ kind: 'call', ...call }), resolve))
  }

  #receive(message: DbusMessage | undefined): void {
    if (message?.kind === 'reply') this.#replies.get(message.replySerial ?? 0)?.()
    if (message?.kind !== 'call') return
    this.called.push(message)
    const answer = this.#answer(message)
    if (answer === undefined) return
    const back = { replySerial: message.serial, destination: message.sender }
    if ('error' in answer) {
      this.#send({ kind: 'error', ...back, errorName: answer.error, signature: 's', body: ['as the test wants'] })
    } else {
      this.#send({ kind: 'reply', ...back, ...answer })
    }
  }

  #send(message: Omit<DbusMessage, 'serial'>): number {
    this.#serial += 1
    this.#socket.write(encodeMessage({ ...message, serial: this.#serial }))
    return this.#serial
  }
}
