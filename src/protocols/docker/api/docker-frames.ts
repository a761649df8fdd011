/** A piece of what a command printed. */
export interface DockerOutput {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Buffer
}

const HEAD_BYTES = 8
const STDERR = 2
const DAEMON_ERROR = 3

/** Docker reports in the middle of a stream that it failed. */
class DockerStreamError extends Error {
  override readonly name = 'DockerStreamError'
}

/** Takes apart what Docker sends of a command without a terminal: frames with both outputs, cut anywhere. */
export class DockerFrames {
  #head: Buffer = Buffer.alloc(0)
  #type = 0
  #left = 0

  #readHead(bytes: Buffer): Buffer {
    const missing = HEAD_BYTES - this.#head.length
    this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)])
    if (this.#head.length === HEAD_BYTES) {
      this.#type = this.#head.readUInt8(0)
      this.#left = this.#head.readUInt32BE(4)
      this.#head = Buffer.alloc(0)
    }
    return bytes.subarray(missing)
  }

  /** The outputs in these bytes; a frame that is not complete is given as far as it came. */
  *push(input: Buffer): Generator<DockerOutput, void> {
    let bytes = input
    while (bytes.length > 0) {
      if (this.#left === 0) {
        bytes = this.#readHead(bytes)
        continue
      }
      const piece = bytes.subarray(0, this.#left)
      this.#left -= piece.length
      bytes = bytes.subarray(piece.length)
      if (this.#type === DAEMON_ERROR) throw new DockerStreamError(`Docker failed: ${piece.toString()}`)
      yield { stream: this.#type === STDERR ? 'stderr' : 'stdout', bytes: piece }
    }
  }
}
