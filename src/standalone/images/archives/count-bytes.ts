import { Transform } from 'node:stream'

/** Passes bytes on and says how many there were so far. Nothing flows, and so nothing is lost, before a reader is there. */
export function countBytes(onProgress: (doneBytes: number) => void): Transform {
  let doneBytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      doneBytes += chunk.length
      onProgress(doneBytes)
      done(undefined, chunk)
    },
  })
}
