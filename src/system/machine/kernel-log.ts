import { closeSync, constants, openSync, readSync } from 'node:fs'
import { hasCode } from '../files/error-codes.ts'

/** What the kernel says, record by record, from the oldest that it still has. */
export interface KernelLog extends Disposable {
  /** Undefined when there is nothing new. Never waits. */
  next(): string | undefined
}

// The kernel hands out whole records, and none is larger.
const LARGEST_RECORD = 8192

/** Fails where the log may not be read. */
export function openKernelLog(path = '/dev/kmsg'): KernelLog {
  // A read that waits would keep one of the few threads that all files share.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const buffer = Buffer.alloc(LARGEST_RECORD)
  return {
    next() {
      for (;;) {
        try {
          const length = readSync(file, buffer)
          return length === 0 ? undefined : buffer.toString('utf8', 0, length)
        } catch (error) {
          if (hasCode(error, 'EAGAIN')) return undefined
          // Records were overwritten before they were read: it goes on with the oldest that is left.
          if (!hasCode(error, 'EPIPE')) throw error
        }
      }
    },
    [Symbol.dispose]: () => closeSync(file),
  }
}
