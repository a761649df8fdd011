import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const PLACE = '/dev/shm'
const TMPFS = 0x01021994
// What ten labs with their images and a few runtimes take at most, twice.
const ROOM_BYTES = 8 * 1024 ** 3

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
    return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
  } catch {
    return undefined
  }
}

function readAvailableMemory(): number {
  const [, kilobytes = '0'] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'latin1')) ?? []
  return Number(kilobytes) * 1024
}

/** A run that was killed leaves its folder, which takes memory. */
function removeLeftovers(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = /^deckhand-(\d+)$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(place, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
