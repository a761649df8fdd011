import type { Socket } from 'node:net'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { DbusCallError, DbusConnectionError } from './dbus-error.ts'
import { type DbusMessage, decodeMessage, encodeMessage, MessageSplitter } from './dbus-message.ts'
import type { DbusValue } from './dbus-value.ts'
import { openBusSocket } from './open-bus-socket.ts'

/** A method to call. */
export interface DbusCall {
  readonly destination: string
  readonly path: string
  readonly interface: string
  readonly member: string
  /** Of the body; none: no arguments. */
  readonly signature?: string
  readonly body?: readonly DbusValue[]
  /** Unset: 25 s, as other clients of a bus wait. */
  readonly deadlineMs?: number
}

/** Which signals are meant; a sender is always the program that owns that name, whatever others claim. */
interface DbusMatch {
  readonly sender: string
  readonly path?: string
  readonly interface: string
  readonly member: string
}

/** A connection to a message bus. Ends with its block; also then everything that waits fails. */
export interface DbusConnection extends Disposable {
  /** The values of the reply. */
  call(request: DbusCall, signal: AbortSignal): Promise<readonly DbusValue[]>
  /** From now until the connection ends. The listener must not throw: that would be the end of the connection. */
  onSignal(match: DbusMatch, listener: (body: readonly DbusValue[]) => void, signal: AbortSignal): Promise<void>
  /** Resolves with the reason when the connection is lost or closed; never rejects. */
  readonly closed: Promise<Error>
}

const BUS = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' }
const DEFAULT_DEADLINE_MS = 25_000

/** Connects to the message bus at an address such as "unix:path=/run/dbus/system_bus_socket". */
export async function openDbus(
  options: { readonly address: string; readonly clock: Clock },
  signal: AbortSignal,
): Promise<DbusConnection> {
  const socket = await withDeadline(
    { clock: options.clock, ms: DEFAULT_DEADLINE_MS, what: `the login at the bus "${options.address}"` },
    (until) => openBusSocket(options.address, until),
    signal,
  )
  const connection = new BusConnection(socket, options.clock)
  try {
    await connection.call({ ...BUS, member: 'Hello' }, signal)
    return connection
  } catch (error) {
    connection[Symbol.dispose]()
    throw error
  }
}

interface Waiting {
  readonly what: string
  readonly resolve: (body: readonly DbusValue[]) => void
  readonly reject: (error: Error) => void
}

interface Listener {
  readonly match: DbusMatch
  readonly listener: (body: readonly DbusValue[]) => void
  /** The unique name of the sender; undefined while its name has no owner. */
  owner: string | undefined
}

class BusConnection implements DbusConnection {
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #splitter = new MessageSplitter()
  readonly #waiting = new Map<number, Waiting>()
  readonly #listeners: Listener[] = []
  readonly #closed = Promise.withResolvers<Error>()
  #lastSerial = 0
  #end: Error | undefined

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket
    this.#clock = clock
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', (cause) => this.#close(new DbusConnectionError('Lost the connection to the bus', { cause })))
    socket.on('close', () => this.#close(new DbusConnectionError('Lost the connection to the bus: it was closed')))
    socket.resume()
  }

  get closed(): Promise<Error> {
    return this.#closed.promise
  }

  async call(request: DbusCall, signal: AbortSignal): Promise<readonly DbusValue[]> {
    const { destination, path, interface: inside, member, signature = '', body = [] } = request
    const what = `${inside}.${member} of ${destination}`
    const serial = this.#nextSerial()
    const bytes = encodeMessage({ kind: 'call', serial, destination, path, interface: inside, member, signature, body })
    try {
      return await withDeadline(
        { clock: this.#clock, ms: request.deadlineMs ?? DEFAULT_DEADLINE_MS, what },
        (until) => this.#exchange({ serial, bytes, what }, until),
        signal,
      )
    } finally {
      this.#waiting.delete(serial)
    }
  }

  async onSignal(match: DbusMatch, listener: (body: readonly DbusValue[]) => void, signal: AbortSignal): Promise<void> {
    // The bus lets any program send us any signal, and names that program, not the name that it owns: so we ask who owns it.
    const isFixed = match.sender === BUS.destination || match.sender.startsWith(':')
    const entry: Listener = { match, listener, owner: isFixed ? match.sender : undefined }
    if (!isFixed) await this.#followOwner(entry, signal)
    this.#listeners.push(entry)
    await this.#addMatch(match, undefined, signal)
  }

  [Symbol.dispose](): void {
    this.#close(new DbusConnectionError('The connection to the bus was closed by us'))
  }

  async #exchange(
    message: { readonly serial: number; readonly bytes: Buffer; readonly what: string },
    signal: AbortSignal,
  ): Promise<readonly DbusValue[]> {
    if (this.#end !== undefined) throw this.#end
    using scope = new AbortScope(signal)
    return await new Promise((resolve, reject) => {
      scope.signal.addEventListener('abort', () => reject(scope.signal.reason), { once: true })
      if (scope.signal.aborted) return reject(scope.signal.reason)
      this.#waiting.set(message.serial, { what: message.what, resolve, reject })
      this.#socket.write(message.bytes)
    })
  }

  async #followOwner(entry: Listener, signal: AbortSignal): Promise<void> {
    const { sender } = entry.match
    const changed = { sender: BUS.destination, interface: BUS.interface, member: 'NameOwnerChanged' }
    let isReported = false
    const follow = ([name, , owner]: readonly DbusValue[]) => {
      if (name !== sender) return
      isReported = true
      entry.owner = typeof owner === 'string' && owner !== '' ? owner : undefined
    }
    this.#listeners.push({ match: changed, listener: follow, owner: BUS.destination })
    await this.#addMatch(changed, sender, signal)
    const found = await this.#findOwner(sender, signal)
    if (!isReported) entry.owner = found
  }

  async #addMatch(match: DbusMatch, firstArgument: string | undefined, signal: AbortSignal): Promise<void> {
    const path = match.path === undefined ? '' : `,path='${match.path}'`
    const argument = firstArgument === undefined ? '' : `,arg0='${firstArgument}'`
    const rule = `type='signal',sender='${match.sender}',interface='${match.interface}',member='${match.member}'${path}${argument}`
    await this.call({ ...BUS, member: 'AddMatch', signature: 's', body: [rule] }, signal)
  }

  async #findOwner(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const [owner] = await this.call({ ...BUS, member: 'GetNameOwner', signature: 's', body: [name] }, signal)
      return typeof owner === 'string' ? owner : undefined
    } catch (error) {
      if (error instanceof DbusCallError && error.errorName === 'org.freedesktop.DBus.Error.NameHasNoOwner')
        return undefined
      throw error
    }
  }

  #receive(chunk: Buffer): void {
    try {
      for (const bytes of this.#splitter.push(chunk)) {
        const message = decodeMessage(bytes)
        if (message !== undefined) this.#dispatch(message)
      }
    } catch (cause) {
      this.#close(new DbusConnectionError('Gave up the connection to the bus: cannot read what it says', { cause }))
    }
  }

  #dispatch(message: DbusMessage): void {
    if (message.kind === 'signal') {
      for (const each of this.#listeners) if (isMeant(each, message)) each.listener(message.body)
      return
    }
    const waiting = this.#waiting.get(message.replySerial ?? 0)
    if (waiting === undefined) return // Its caller has given up, or it is a call to us, who offer nothing.
    if (message.kind === 'reply') return waiting.resolve(message.body)
    const [text] = message.body
    waiting.reject(
      new DbusCallError(waiting.what, message.errorName ?? 'unknown', typeof text === 'string' ? text : ''),
    )
  }

  #close(reason: Error): void {
    if (this.#end !== undefined) return
    this.#end = reason
    this.#socket.destroy()
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
    this.#closed.resolve(reason)
  }

  #nextSerial(): number {
    this.#lastSerial = this.#lastSerial === 0xffff_ffff ? 1 : this.#lastSerial + 1
    return this.#lastSerial
  }
}

function isMeant({ match, owner }: Listener, message: DbusMessage): boolean {
  return (
    message.sender === owner &&
    message.interface === match.interface &&
    message.member === match.member &&
    (match.path === undefined || message.path === match.path)
  )
}
