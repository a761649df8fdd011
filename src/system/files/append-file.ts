import { closeSync, openSync, writeSync } from 'node:fs'

/** A file that text is appended to, also after it was emptied. */
export interface AppendedFile extends Disposable {
  write(text: string): void
}

/** Opens a log of our own for its owner and group to read. What a full disk does not take is lost: nothing ends for the sake of a log. */
export function openAppendedFile(path: string): AppendedFile {
  const file = openSync(path, 'a', 0o640)
  return {
    write(text) {
      try {
        writeSync(file, text)
      } catch {
        // There is nowhere to report it.
      }
    },
    [Symbol.dispose]: () => closeSync(file),
  }
}
