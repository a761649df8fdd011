import { messageLength } from './dbus-message.ts'

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
