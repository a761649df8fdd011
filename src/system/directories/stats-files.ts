import type { StatsFs } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { readKernelFile } from '../cgroups/cgroup-reader.ts'
import { unlessAbsent } from '../files/error-codes.ts'
import type { FileSystemUsage, TreeUsage } from '../files/file-usage.ts'
import { readLink } from '../files/replace-link.ts'
import { countOpenFiles } from './count-open-files.ts'
import type { OpenFiles } from './count-open-files.ts'
import { cutFile, measureFile } from './logs/cut-file.ts'

/** What is measured on the disk and in /proc, without a walk and without opening what is not the kernel's. */
export interface StatsFiles {
  fileSystem(path: string): Promise<FileSystemUsage & { readonly device: string }>
  /** The files directly in a folder, and those in each folder of it; undefined when there is none. */
  folder(path: string): Promise<FolderUsage | undefined>
  /** The same for the logs of a pod, with those that Docker keeps elsewhere for these containers of it. */
  logFolder(path: string, docker: DockerLogs): Promise<FolderUsage | undefined>
  file(path: string): Promise<TreeUsage>
  /**
   * The same as folder() for files that containers write and the agent reads: one that is larger than so many bytes is emptied after it
   * was counted, so that it fills no disk.
   */
  cutFolder(path: string, mostBytes: number): Promise<FolderUsage | undefined>
  /** A file such as "/proc/loadavg"; undefined when there is none. */
  kernelFile(path: string): string | undefined
  /** What a process has open, found with no more than so many reads; undefined when it is gone. */
  openFiles(pid: number, most: number): Promise<OpenFiles | undefined>
}

/** Which links in a folder of logs lead to a log that Docker writes. All others count as themselves: a pod may have made them. */
export interface DockerLogs {
  /** Docker's own folder; undefined when it is not known. */
  readonly root: string | undefined
  readonly containerIds: ReadonlySet<string>
}

export interface FolderUsage {
  readonly own: TreeUsage
  readonly folders: ReadonlyMap<string, TreeUsage>
}

const NOTHING: TreeUsage = { bytes: 0, inodes: 0 }

export const statsFiles: StatsFiles = {
  async fileSystem(path) {
    const [space, { dev }] = await Promise.all([statfs(path), stat(path)])
    return { ...toUsage(space), device: toDeviceNumber(dev) }
  },

  folder: (path) => measureFolder(path, measureFile),
  logFolder: (path, docker) =>
    measureFolder(path, (file, isLink) => (isLink ? measureLink(file, docker) : measureFile(file))),
  file: measureFile,
  cutFolder: (path, mostBytes) =>
    measureFolder(path, async (file) => {
      const { bytes, inodes } = await cutFile(file, mostBytes)
      return { bytes, inodes }
    }),

  kernelFile: readKernelFile,
  openFiles: countOpenFiles,
}

type MeasureFile = (path: string, isLink: boolean) => Promise<TreeUsage>

async function measureFolder(path: string, measure: MeasureFile): Promise<FolderUsage | undefined> {
  const entries = await unlessAbsent(readdir(path, { withFileTypes: true }), undefined)
  if (entries === undefined) return undefined
  let own = NOTHING
  const folders = new Map<string, TreeUsage>()
  for (const entry of entries) {
    const inside = `${path}/${entry.name}`
    if (entry.isDirectory()) folders.set(entry.name, await filesIn(inside, measure))
    else own = add(own, await measure(inside, entry.isSymbolicLink()))
  }
  return { own, folders }
}

async function filesIn(folder: string, measure: MeasureFile): Promise<TreeUsage> {
  let sum = NOTHING
  for (const entry of await unlessAbsent(readdir(folder, { withFileTypes: true }), []))
    sum = add(sum, await measure(`${folder}/${entry.name}`, entry.isSymbolicLink()))
  return sum
}

/** Behind the link to a log of Docker's is that log, and beside it are the files that Docker rotated. */
async function measureLink(path: string, docker: DockerLogs): Promise<TreeUsage> {
  let sum = await measureFile(path)
  const target = await findDockerLog(path, docker)
  if (target === undefined) return sum
  const [folder, file] = [dirname(target), basename(target)]
  for (const name of await unlessAbsent(readdir(folder), []))
    if (name.startsWith(file)) sum = add(sum, await measureFile(`${folder}/${name}`))
  return sum
}

async function findDockerLog(path: string, { root, containerIds }: DockerLogs): Promise<string | undefined> {
  const target = await readLink(path)
  const id = target === undefined ? '' : basename(dirname(target))
  return containerIds.has(id) && target === `${root}/containers/${id}/${id}-json.log` ? target : undefined
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
