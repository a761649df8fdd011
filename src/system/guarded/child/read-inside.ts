import { closeSync, constants, openSync, readSync } from 'node:fs'
import type { PathInside } from '../guarded-files.ts'
import { GuardedError } from './guarded-error.ts'
import { holdInside } from './held-path.ts'

/** The content of a regular file inside a volume, in base64. */
export function readInside(request: PathInside & { readonly maxBytes: number }): string {
  using held = holdInside(request)
  if (!held.stat().isFile()) throw new GuardedError('EINVAL', `Cannot read "${request.path}": it is no regular file`)
  const fd = openSync(held.path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    // Not the size of the file: it may grow, and some report none.
    const buffer = Buffer.alloc(request.maxBytes + 1)
    let length = 0
    for (;;) {
      const count = readSync(fd, buffer, length, buffer.length - length, null)
      length += count
      if (count === 0) break
    }
    if (length > request.maxBytes)
      throw new GuardedError('EFBIG', `Cannot read "${request.path}": more than ${request.maxBytes} bytes`)
    return buffer.toString('base64', 0, length)
  } finally {
    closeSync(fd)
  }
}
