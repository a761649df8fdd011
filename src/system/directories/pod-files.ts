import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, readlink, symlink, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readMountTable } from '../mounts/mount-table.ts'
import {
  removeFileDurably,
  renameDurably,
  syncFolder,
  UNFINISHED_SUFFIX,
  writeFileDurably,
} from '../files/state/durable-file.ts'
import { hostConfigFiles } from '../files/host-config-files.ts'
import { hasCode, unlessAbsent } from '../files/error-codes.ts'
import { removeOwnDirectory } from './remove-own-directory.ts'
import type { OwnParts, Remains } from './remove-own-directory.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { readDockerLink } from './logs/docker-log-link.ts'

/** The file that names hosts on the node itself. */
const NODE_HOSTS = '/etc/hosts'
const PROBE_NOTE = 'probes.json'
const TERMINATION_NOTE = 'termination.json'
/** What a note, and what is left of one by a killed agent or a faulty disk, has at the end of its name. */
const NOTE_ENDS = ['', UNFINISHED_SUFFIX, '.corrupt']
const POD_PARTS: OwnParts = {
  trees: ['containers'],
  files: ['etc-hosts', ...[PROBE_NOTE, TERMINATION_NOTE].flatMap((note) => NOTE_ENDS.map((end) => `${note}${end}`))],
  folders: ['volumes', 'plugins'],
}
const LOG_PARTS: OwnParts = { trees: ['.'], files: [], folders: [] }
const MAX_RESOLV_CONF_BYTES = 10 * 1024 * 1024

/**
 * The files that the agent itself makes for pods: directories, hosts files, termination messages, log links. Nothing in here opens a path that
 * a pod could have replaced by something that blocks, and nothing is ever removed recursively.
 */
export function createPodFiles(options: {
  readonly rootDirectory: string
  readonly readTable?: typeof readMountTable
}) {
  const readTable = options.readTable ?? readMountTable
  const removeLogDirectory = (directory: string) => removeOwnDirectory(directory, LOG_PARTS, readTable)
  return {
    async makeDirectories(paths: readonly string[]): Promise<void> {
      const make = (path: string) =>
        mkdir(path, { recursive: true, mode: path.startsWith(options.rootDirectory) ? 0o750 : 0o755 })
      await Promise.all(paths.map(make))
    },

    async listNames(directory: string): Promise<readonly string[]> {
      return await unlessAbsent(readdir(directory), [])
    },

    async readNodeHosts(): Promise<string> {
      return await unlessAbsent(readFile(NODE_HOSTS, 'utf8'), '')
    },

    /** The resolver file of the node, as it is now. */
    async readResolvConf(path: string): Promise<string> {
      return Buffer.from(await hostConfigFiles.readFile(path, MAX_RESOLV_CONF_BYTES)).toString('utf8')
    },

    async writeHosts(path: string, text: string): Promise<void> {
      // Containers have the file mounted: it is written in place, a new one would not be seen, and is never empty meanwhile. They may have written to it.
      await using file = await open(path, constants.O_CREAT | constants.O_RDWR, 0o644)
      const bytes = Buffer.from(text)
      const { bytesRead, buffer: present } = await file.read(Buffer.alloc(bytes.length + 1), 0, bytes.length + 1, 0)
      if (present.subarray(0, bytesRead).equals(bytes)) return
      await file.writeFile(bytes)
      await file.truncate(bytes.length)
    },

    async makeTerminationLog(path: string): Promise<void> {
      await using file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o666)
      await file.chmod(0o666)
    },

    async readTerminationLog(path: string, maxBytes: number): Promise<string> {
      try {
        return (await readTail(path, maxBytes)).toString('utf8')
      } catch (error) {
        return `Error on reading termination log: ${errorMessage(error)}`
      }
    },

    readLogTail: readTail,

    async linkLog(link: string, target: string): Promise<void> {
      if ((await statOrUndefined(target)) === undefined) return
      try {
        await symlink(target, link)
      } catch (error) {
        // Only the first one finds no folder, and only after the death of an agent there may be such a link.
        if (hasCode(error, 'EEXIST')) await unlink(link)
        else if (hasCode(error, 'ENOENT')) await mkdir(dirname(link), { recursive: true, mode: 0o755 })
        else throw error
        await symlink(target, link)
      }
    },

    async removeLogs(logPath: string, link: string): Promise<void> {
      await unlessAbsent(unlink(link), undefined)
      if (logPath === '') return
      const directory = dirname(logPath)
      const own = (await unlessAbsent(readdir(directory), [])).filter((name) => name.startsWith(basename(logPath)))
      for (const name of own) await unlessAbsent(unlink(join(directory, name)), undefined)
    },

    /** What is known of the probes of a pod, for the next agent. */
    probeNotes: createPodNotes(options.rootDirectory, PROBE_NOTE),

    /** How far the end of a pod is, for the next agent. */
    terminationNotes: createPodNotes(options.rootDirectory, TERMINATION_NOTE),

    /** Removes what the agent made for a pod, and says what is not the agent's and stays. */
    async removePod(uid: string): Promise<Remains> {
      return await removeOwnDirectory(join(options.rootDirectory, 'pods', uid), POD_PARTS, readTable)
    },

    /** UIDs of all pods that have a directory here. */
    async listPods(): Promise<readonly string[]> {
      return await unlessAbsent(readdir(join(options.rootDirectory, 'pods')), [])
    },

    /** The log directories of all pods, with the UID that their name ends in. */
    async listLogDirectories(
      podLogsDirectory: string,
    ): Promise<readonly { readonly uid: string; readonly path: string }[]> {
      const names = await unlessAbsent(readdir(podLogsDirectory), [])
      return names.map((name) => ({ uid: name.slice(name.lastIndexOf('_') + 1), path: join(podLogsDirectory, name) }))
    },

    /** The same for the logs of a pod. */
    removeLogDirectory,

    /** Removes links to logs below a directory that are not there any more. */
    async removeDanglingLinks(links: string, podLogsDirectory: string): Promise<void> {
      for (const name of await unlessAbsent(readdir(links), [])) {
        const target = await readlink(join(links, name)).catch(() => '')
        if (!target.startsWith(`${podLogsDirectory}/`) || (await statOrUndefined(target)) !== undefined) continue
        await unlessAbsent(unlink(join(links, name)), undefined)
      }
    },
  }
}

/** One small text per pod, in its directory. */
function createPodNotes(rootDirectory: string, name: string) {
  const notePath = (uid: string) => join(rootDirectory, 'pods', uid, name)
  return {
    async read(uid: string): Promise<string | undefined> {
      return await unlessAbsent(readFile(notePath(uid), 'utf8'), undefined)
    },

    async write(uid: string, text: string): Promise<void> {
      await writeFileDurably(notePath(uid), text, { mode: 0o600, folderMode: 0o750 })
      // The pod's directory may be older than the note, and not on the disk yet.
      await syncFolder(join(rootDirectory, 'pods'))
    },

    async remove(uid: string): Promise<void> {
      await removeFileDurably(notePath(uid))
    },

    async setAside(uid: string): Promise<void> {
      await renameDurably(notePath(uid), `${notePath(uid)}.corrupt`)
    },
  }
}

/** The end of a log; of one that is not there, or no plain file, nothing. No link is followed but that to the log that Docker keeps. */
async function readTail(path: string, maxBytes: number, containerId = ''): Promise<Buffer> {
  try {
    return await readEnd(path, maxBytes)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ELOOP')) throw error
    const target = hasCode(error, 'ELOOP') ? await readDockerLink(path, containerId) : undefined
    return target === undefined ? Buffer.alloc(0) : await unlessAbsent(readEnd(target, maxBytes), Buffer.alloc(0))
  }
}

async function readEnd(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stat = await file.stat()
  if (!stat.isFile()) return Buffer.alloc(0)
  const length = Math.min(stat.size, maxBytes)
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position: stat.size - length })
  return buffer.subarray(0, bytesRead)
}

async function statOrUndefined(path: string) {
  return await unlessAbsent(lstat(path), undefined)
}
