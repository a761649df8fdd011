import { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/**
 * A connection that goes on being read after writing to it failed. Who answers and closes while we still send has answered all the same: Node's own
 * sockets would throw away that answer with the first write that is refused. What is written after that goes nowhere.
 */
export class PatientSocket extends Socket {
  #isRefused = false

  override _write(chunk: Uint8Array, encoding: BufferEncoding, done: Done): void {
    if (this.#isRefused) done()
    else super._write(chunk, encoding, this.#forgiving(done))
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    if (this.#isRefused) done()
    else super._writev?.(chunks, this.#forgiving(done))
  }

  override _final(done: Done): void {
    if (this.#isRefused) done()
    else super._final(this.#forgiving(done))
  }

  #forgiving(done: Done): Done {
    return (error) => {
      // A reader sees that this is the end.
      if (error) this.#isRefused = true
      done()
    }
  }
}
