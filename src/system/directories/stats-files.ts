import type { StatsFs } from 'node:fs'
import { lstat, readdir, stat, statfs } from 'node:fs/promises'
import { readKernelFile } from '../cgroups/cgroup-reader.ts'
import { unlessAbsent } from '../files/error-codes.ts'
import type { FileSystemUsage, TreeUsage } from '../files/file-usage.ts'
import { countOpenFiles } from './count-open-files.ts'
import type { OpenFiles } from './count-open-files.ts'

/** What is measured on the disk and in /proc, without a walk and without opening what is not the kernel's. */
export interface StatsFiles {
  fileSystem(path: string): Promise<FileSystemUsage & { readonly device: string }>
  /** The files directly in a folder, and those in each folder of it; undefined when there is none. */
  folder(path: string): Promise<FolderUsage | undefined>
  file(path: string): Promise<TreeUsage>
  /** A file such as "/proc/loadavg"; undefined when there is none. */
  kernelFile(path: string): string | undefined
  /** What a process has open, found with no more than so many looks; undefined when it is gone. */
  openFiles(pid: number, most: number): Promise<OpenFiles | undefined>
}

interface FolderUsage {
  readonly own: TreeUsage
  readonly folders: ReadonlyMap<string, TreeUsage>
}

const BLOCK_BYTES = 512
const NOTHING: TreeUsage = { bytes: 0, inodes: 0 }

export const statsFiles: StatsFiles = {
  async fileSystem(path) {
    const [space, { dev }] = await Promise.all([statfs(path), stat(path)])
    return { ...toUsage(space), device: toDeviceNumber(dev) }
  },

  async folder(path) {
    const entries = await unlessAbsent(readdir(path, { withFileTypes: true }), undefined)
    if (entries === undefined) return undefined
    let own = NOTHING
    const folders = new Map<string, TreeUsage>()
    for (const entry of entries) {
      const inside = `${path}/${entry.name}`
      if (entry.isDirectory()) folders.set(entry.name, await filesIn(inside))
      else own = add(own, await statsFiles.file(inside))
    }
    return { own, folders }
  },

  async file(path) {
    const found = await unlessAbsent(lstat(path), undefined)
    return found === undefined ? NOTHING : { bytes: found.blocks * BLOCK_BYTES, inodes: 1 }
  },

  kernelFile: readKernelFile,
  openFiles: countOpenFiles,
}

async function filesIn(folder: string): Promise<TreeUsage> {
  let sum = NOTHING
  for (const name of await unlessAbsent(readdir(folder), [])) sum = add(sum, await statsFiles.file(`${folder}/${name}`))
  return sum
}

function add(a: TreeUsage, b: TreeUsage): TreeUsage {
  return { bytes: a.bytes + b.bytes, inodes: a.inodes + b.inodes }
}

function toUsage({ blocks, bfree, bavail, bsize, files, ffree }: StatsFs): FileSystemUsage {
  return {
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  }
}

/** As in 8:1. The kernel's numbers of more than 8 bits are spread over the value. */
function toDeviceNumber(dev: number): string {
  const value = BigInt(dev)
  const major = ((value >> 8n) & 0xfffn) | ((value >> 32n) & 0xfffff000n)
  const minor = (value & 0xffn) | ((value >> 12n) & 0xffffff00n)
  return `${major}:${minor}`
}
