import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const PLACE = '/dev/shm'
const TMPFS = 0x01021994
// What ten labs with their images and a few runtimes take at most, twice.
const ROOM_BYTES = 8 * 1024 ** 3

// Which processes a pid means.
const NAMESPACE_NOTE = '.pid-namespace'

interface MemoryFolder extends Disposable {
  readonly path: string
}

/**
 * A folder for temporary files that are in memory: thousands of tests sync what they write, and wait for the disk of the machine most of their
 * time. Undefined where there is no room.
 */
export function makeMemoryFolder(place: string = PLACE, roomBytes: number = ROOM_BYTES): MemoryFolder | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(place)
    if (type !== TMPFS || Math.min(bavail * bsize, readAvailableMemory()) < roomBytes) return undefined
    removeLeftovers(place)
    // Short: the path of a socket has at most 107 characters.
    const path = join(place, `deckhand-${process.pid}`)
    rmSync(path, { recursive: true, force: true })
    mkdirSync(path)
    writeFileSync(join(path, NAMESPACE_NOTE), ownNamespace())
    return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
  } catch {
    return undefined
  }
}

function readAvailableMemory(): number {
  const [, kilobytes = '0'] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'latin1')) ?? []
  return Number(kilobytes) * 1024
}

/** A run that was killed leaves its folder, which takes memory. Whether one of another pid namespace still runs cannot be known here. */
function removeLeftovers(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = /^deckhand-(\d+)$/.exec(name) ?? []
    const path = join(place, name)
    if (pid !== undefined && !isAlive(Number(pid)) && isOwn(path)) rmSync(path, { recursive: true, force: true })
  }
}

function ownNamespace(): string {
  return readlinkSync('/proc/self/ns/pid')
}

function isOwn(path: string): boolean {
  try {
    return readFileSync(join(path, NAMESPACE_NOTE), 'utf8') === ownNamespace()
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
