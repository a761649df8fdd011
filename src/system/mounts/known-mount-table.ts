import { openSync } from 'node:fs'
import { openCLibrary } from '../processes/c-library.ts'
import { readMountTable } from './mount-table.ts'
import type { MountEntry } from './mount-table.ts'

interface KnownMountTableDeps {
  readonly readTable: () => Promise<readonly MountEntry[]>
  /** Whether something was mounted, mounted again or unmounted since the last question. */
  readonly hasChanged: () => boolean
}

/**
 * The mount table, read again only when the kernel says that it has changed: it has several lines for each pod, and each pod looks at it once a minute.
 * Whether a mount is shared may be out of date, since the kernel does not report that.
 */
export function createKnownMountTable(
  deps: KnownMountTableDeps = { readTable: readMountTable, hasChanged: createChangeCheck() },
): () => Promise<readonly MountEntry[]> {
  let known: Promise<readonly MountEntry[]> | undefined
  return () => {
    // Asked before each use, also while a reading is under way: one that began before the change may lack it.
    if (deps.hasChanged() || known === undefined) {
      const reading = deps.readTable()
      known = reading
      reading.catch(() => {
        if (known === reading) known = undefined
      })
    }
    return known
  }
}

// Of <poll.h>: an int for the file, a short for what is waited for and one for what has happened.
const POLLED_FILE_BYTES = 8
const POLLPRI = 2
const EVENTS_AT = 4

/** Whether the mount table has changed since the last question. An open one has something urgent to report after each change; Node itself cannot ask for it. */
export function createChangeCheck(): () => boolean {
  let check: (() => boolean) | undefined
  return () => {
    check ??= openChangeCheck()
    return check()
  }
}

function openChangeCheck(): () => boolean {
  try {
    const { poll } = openCLibrary({ poll: { arguments: ['pointer', 'uint64', 'int32'], return: 'int32' } })
    const polled = Buffer.alloc(POLLED_FILE_BYTES)
    const view = new DataView(polled.buffer, polled.byteOffset)
    const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
    // Kept open as long as this process runs.
    view.setInt32(0, openSync('/proc/self/mountinfo', 'r'), isLittleEndian)
    view.setInt16(EVENTS_AT, POLLPRI, isLittleEndian)
    // A failure may hide a change.
    return () => poll(polled, 1n, 0) !== 0
  } catch {
    // A Node without FFI: the table is read each time.
    return () => true
  }
}
