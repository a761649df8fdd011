import { opendirSync, readlinkSync, statSync } from 'node:fs'
import { nextTurn } from '../../base/async/next-turn.ts'
import { hasCode } from '../files/error-codes.ts'

/** What a process holds open. A number that would take too long to find is undefined. */
export interface OpenFiles {
  readonly files: number | undefined
  readonly sockets: number | undefined
}

// So many links are read before others get a turn, a millisecond or so.
const SLICE = 128

let isCounted: boolean | undefined

/** Counts the open files of a process and looks at no more than `most` of them; undefined when it is gone. */
export async function countOpenFiles(pid: number, most: number): Promise<OpenFiles | undefined> {
  const folder = `/proc/${pid}/fd`
  try {
    const files = countByKernel(folder)
    if (files !== undefined && files > most) return { files, sockets: undefined }
    const names = listNames(folder, most)
    if (names === undefined) return { files, sockets: undefined }
    return { files: names.length, sockets: await countSockets(folder, names) }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES')) return undefined
    throw error
  }
}

/** Since Linux 6.2 the size of the folder is the number of descriptors in it; before that it is always 0. */
function countByKernel(folder: string): number | undefined {
  isCounted ??= statSync('/proc/self/fd').size > 0
  return isCounted ? statSync(folder).size : undefined
}

/** Undefined when there are more. */
function listNames(folder: string, most: number): readonly string[] | undefined {
  using list = opendirSync(folder, { bufferSize: SLICE })
  const names: string[] = []
  for (let entry = list.readSync(); entry !== null; entry = list.readSync()) {
    if (names.length === most) return undefined
    names.push(entry.name)
  }
  return names
}

async function countSockets(folder: string, names: readonly string[]): Promise<number> {
  let sockets = 0
  for (const [index, name] of names.entries()) {
    if (index > 0 && index % SLICE === 0) await nextTurn()
    try {
      if (readlinkSync(`${folder}/${name}`).startsWith('socket:')) sockets += 1
    } catch (error) {
      // Closed in between.
      if (!hasCode(error, 'ENOENT', 'ESRCH')) throw error
    }
  }
  return sockets
}
