/** What the head of a frame says about its size. */
export interface FrameHead {
  /** The length of the head itself. */
  readonly headBytes: number
  /** The length of the content behind it. */
  readonly length: number
  /** Its content is given in one piece; only for kinds of frames that are limited in length. */
  readonly isWhole: boolean
}

/** A part of a frame's content, or all of it. */
export interface FramePiece<Head extends FrameHead> {
  readonly head: Head
  readonly bytes: Buffer
  /** How much of the content came before. */
  readonly offset: number
  readonly isLast: boolean
}

const NOTHING = Buffer.alloc(0)

/** Cuts bytes that arrive in any portions into frames. Content is passed on as it comes, so that no frame needs memory. */
export class FrameSplitter<Head extends FrameHead> {
  readonly #readHead: (input: Buffer) => Head | undefined
  /** The beginning of a head, or of content that is given whole. */
  #rest: Buffer = NOTHING
  #head: Head | undefined
  #done = 0

  /** `readHead` gives undefined when it needs more bytes. */
  constructor(readHead: (input: Buffer) => Head | undefined) {
    this.#readHead = readHead
  }

  /** Must be read to its end. The next head is read when the piece before it has been taken. */
  *push(bytes: Buffer): Generator<FramePiece<Head>, void> {
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    this.#rest = NOTHING
    for (;;) {
      const head = this.#head ?? this.#readHead(input)
      if (head === undefined) break
      if (this.#head === undefined) input = input.subarray(head.headBytes)
      this.#head = head
      const missing = head.length - this.#done
      const isEnough = head.isWhole ? input.length >= missing : input.length > 0 || missing === 0
      if (!isEnough) break
      const piece = { head, bytes: input.subarray(0, missing), offset: this.#done, isLast: input.length >= missing }
      this.#done = piece.isLast ? 0 : this.#done + piece.bytes.length
      if (piece.isLast) this.#head = undefined
      input = input.subarray(piece.bytes.length)
      yield piece
    }
    this.#rest = Buffer.from(input)
  }
}
