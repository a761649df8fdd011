import { FrameSplitter } from '../../streams/frame-splitter.ts'
import type { FrameHead } from '../../streams/frame-splitter.ts'

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

interface DockerFrameHead extends FrameHead {
  readonly type: number
}

/** Takes apart what Docker sends of a command without a terminal: frames with both outputs, cut anywhere. */
export class DockerFrames {
  readonly #splitter = new FrameSplitter(readHead);

  /** The outputs in these bytes; a frame that is not complete is given as far as it came. */
  *push(input: Buffer): Generator<DockerOutput, void> {
    for (const { head, bytes } of this.#splitter.push(input)) {
      if (bytes.length === 0) continue
      if (head.type === DAEMON_ERROR) throw new DockerStreamError(`Docker failed: ${bytes.toString()}`)
      yield { stream: head.type === STDERR ? 'stderr' : 'stdout', bytes }
    }
  }
}

function readHead(input: Buffer): DockerFrameHead | undefined {
  if (input.length < HEAD_BYTES) return undefined
  return { headBytes: HEAD_BYTES, length: input.readUInt32BE(4), isWhole: false, type: input.readUInt8(0) }
}
