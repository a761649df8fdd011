import { DbusFormatError } from './dbus-error.ts'
import { DbusReader } from './dbus-reader.ts'
import type { DbusValue, DbusVariant } from './dbus-value.ts'
import { DbusWriter } from './dbus-writer.ts'

const KINDS = ['', 'call', 'reply', 'error', 'signal'] as const
const TEXT_FIELDS = { path: 1, interface: 2, member: 3, errorName: 4, destination: 6, sender: 7 } as const
const TEXT_FIELD_NAMES = Object.keys(TEXT_FIELDS) as readonly (keyof typeof TEXT_FIELDS)[]
const REPLY_SERIAL = 5
const SIGNATURE = 8
const PROTOCOL_VERSION = 1
const LITTLE_ENDIAN = 'l'.charCodeAt(0)
const BIG_ENDIAN = 'B'.charCodeAt(0)
/** Before this many bytes are there, the length of a message is not known. */
const FIXED_BYTES = 16
// The protocol allows 128 MiB; what we ask of systemd is answered in kilobytes.
const LARGEST_MESSAGE_BYTES = 16 * 1024 * 1024

/** One message of a bus. Fields that its kind does not have are undefined. */
export interface DbusMessage {
  readonly kind: 'call' | 'reply' | 'error' | 'signal'
  readonly serial: number
  readonly replySerial?: number | undefined
  readonly path?: string | undefined
  readonly interface?: string | undefined
  readonly member?: string | undefined
  readonly errorName?: string | undefined
  readonly destination?: string | undefined
  readonly sender?: string | undefined
  readonly signature: string
  readonly body: readonly DbusValue[]
}

/** A message to the bytes that carry it. */
export function encodeMessage(message: DbusMessage): Buffer {
  const body = new DbusWriter()
  body.writeAll(message.signature, message.body)
  const fields: DbusValue[] = []
  for (const name of TEXT_FIELD_NAMES) {
    const value = message[name]
    if (value !== undefined) fields.push([TEXT_FIELDS[name], { signature: name === 'path' ? 'o' : 's', value }])
  }
  if (message.replySerial !== undefined) fields.push([REPLY_SERIAL, { signature: 'u', value: message.replySerial }])
  if (message.signature !== '') fields.push([SIGNATURE, { signature: 'g', value: message.signature }])
  const header = new DbusWriter()
  const kind = KINDS.indexOf(message.kind)
  header.writeAll('yyyyuua(yv)', [
    LITTLE_ENDIAN,
    kind,
    0,
    PROTOCOL_VERSION,
    body.bytes().length,
    message.serial,
    fields,
  ])
  header.align(8)
  return Buffer.concat([header.bytes(), body.bytes()])
}

/** How many bytes the message at the beginning has; undefined while too few are there to know. */
function messageLength(bytes: Buffer): number | undefined {
  if (bytes.length < FIXED_BYTES) return undefined
  const [bodyLength = 0, , fieldsLength = 0] = new DbusReader(bytes.subarray(4), isLittleEndian(bytes)).readAll('uuu')
  const length = FIXED_BYTES + Math.ceil(Number(fieldsLength) / 8) * 8 + Number(bodyLength)
  if (length > LARGEST_MESSAGE_BYTES) {
    throw new DbusFormatError(`Cannot read a message of ${length} bytes: expected at most ${LARGEST_MESSAGE_BYTES}`)
  }
  return length
}

/** The bytes of one whole message to the message; undefined for a kind that this protocol version does not know. */
export function decodeMessage(bytes: Buffer): DbusMessage | undefined {
  const little = isLittleEndian(bytes)
  const header = new DbusReader(bytes, little)
  const [, kindNumber, , version, , serial, fields] = header.readAll('yyyyuua(yv)')
  if (version !== PROTOCOL_VERSION)
    throw new DbusFormatError(`Cannot read a message of version ${Number(version)}: expected 1`)
  const kind = KINDS[Number(kindNumber)]
  if (kind === undefined || kind === '') return undefined
  header.align(8)
  const byCode = new Map(
    (fields as readonly (readonly [number, DbusVariant])[]).map(([code, { value }]) => [code, value]),
  )
  const text = (code: number) => {
    const value = byCode.get(code)
    return typeof value === 'string' ? value : undefined
  }
  const signature = text(SIGNATURE) ?? ''
  const replySerial = byCode.get(REPLY_SERIAL)
  return {
    kind,
    serial: Number(serial),
    replySerial: typeof replySerial === 'number' ? replySerial : undefined,
    path: text(TEXT_FIELDS.path),
    interface: text(TEXT_FIELDS.interface),
    member: text(TEXT_FIELDS.member),
    errorName: text(TEXT_FIELDS.errorName),
    destination: text(TEXT_FIELDS.destination),
    sender: text(TEXT_FIELDS.sender),
    signature,
    body: new DbusReader(bytes.subarray(header.position), little).readAll(signature),
  }
}

function isLittleEndian(bytes: Buffer): boolean {
  if (bytes[0] !== LITTLE_ENDIAN && bytes[0] !== BIG_ENDIAN) {
    throw new DbusFormatError(`Cannot read a message that begins with byte ${bytes[0]}: expected "l" or "B"`)
  }
  return bytes[0] === LITTLE_ENDIAN
}

/** Cuts what arrives into whole messages. */
export class MessageSplitter {
  #chunks: Buffer[] = []
  #size = 0
  /** From which size on it is worth reading again. */
  #wanted = 1

  /** The messages that are complete now. */
  push(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#wanted) return []
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    const messages: Buffer[] = []
    let length = messageLength(rest)
    while (length !== undefined && rest.length >= length) {
      // A copy at an address of its own would be needed for nothing: readers count from the beginning of the view.
      messages.push(rest.subarray(0, length))
      rest = rest.subarray(length)
      length = messageLength(rest)
    }
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#size = rest.length
    this.#wanted = length ?? rest.length + 1
    return messages
  }
}
