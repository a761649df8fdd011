import { spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { openCLibrary } from './c-library.ts'

/** A lock that we hold as long as this process lives, however it ends. */
export interface HeldLock {
  readonly path: string
  readonly descriptor: number
}

/** Takes an exclusive lock on a file and waits for it as long as another process holds it. */
export async function lockFile(path: string, signal: AbortSignal): Promise<HeldLock> {
  const descriptor = openSync(path, 'a', 0o600)
  // The lock belongs to the open file, which the program shares with us: it only does the system call that Node lacks.
  const child = spawn('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor], signal })
  const problem = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(errorMessage(error)))
    child.once('exit', (code, by) => resolve(code === 0 ? undefined : `flock ended with ${code ?? by}`))
  })
  if (problem === undefined) return { path, descriptor }
  closeSync(descriptor)
  signal.throwIfAborted()
  throw new Error(`Cannot lock "${path}": ${problem}`)
}

interface ContentionOptions {
  readonly lock: HeldLock
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Starts to watch for another process that opens the file of our lock, or takes it away; what it returns resolves then. */
export function watchLockContention({ lock, sleep }: ContentionOptions, signal: AbortSignal): () => Promise<void> {
  const opened = watchOpened(lock.path)
  const { ino, dev } = fstatSync(lock.descriptor)
  const isReplaced = () => {
    const now = statSync(lock.path, { throwIfNoEntry: false })
    return now?.ino !== ino || now.dev !== dev
  }
  return async () => {
    try {
      while (!opened.hasHappened() && !isReplaced()) await sleep(LOCK_CHECK_MS, signal)
    } finally {
      opened.close()
    }
  }
}

const LOCK_CHECK_MS = 500

// Of <sys/inotify.h>, the same on all architectures that Node runs on.
const IN_OPEN = 0x20
const IN_NONBLOCK = 0o4000
const IN_CLOEXEC = 0o2000000
// An event without a name is 16 bytes; the buffer need not hold all of them, one is enough.
const EVENTS_BYTES = 4096

interface OpenedWatch {
  hasHappened(): boolean
  close(): void
}

/** The kernel's event "opened", which Node's own watchers leave out. */
function watchOpened(path: string): OpenedWatch {
  const inotify = openCLibrary({
    inotify_init1: { arguments: ['int32'], return: 'int32' },
    inotify_add_watch: { arguments: ['int32', 'string', 'uint32'], return: 'int32' },
  })
  const descriptor = inotify.inotify_init1(IN_NONBLOCK | IN_CLOEXEC)
  if (descriptor < 0)
    throw new Error(`Cannot watch "${path}": no more inotify instances, see fs.inotify.max_user_instances`)
  if (inotify.inotify_add_watch(descriptor, path, IN_OPEN) < 0) {
    closeSync(descriptor)
    throw new Error(`Cannot watch "${path}": it is gone, or there are no more watches, see fs.inotify.max_user_watches`)
  }
  const buffer = Buffer.alloc(EVENTS_BYTES)
  return {
    hasHappened() {
      try {
        return readSync(descriptor, buffer) > 0
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false
        throw error
      }
    },
    close: () => closeSync(descriptor),
  }
}
