import { constants, readFileSync } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, symlink, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import process from 'node:process'
import { hasCode, unlessAbsent } from '../files/error-codes.ts'
import { readLink } from '../files/replace-link.ts'
import { openNamespaceDialer } from '../network/namespace-dialer.ts'
import type { NamespaceDialer } from '../network/namespace-dialer.ts'

/** What is done on this machine for containers of Docker, beside what Docker itself does. */
export interface DockerFiles {
  /** Makes the log that the agent looks for a link to the one that Docker writes. */
  linkLog(path: string, target: string): Promise<void>
  /** Undoes linkLog(); a link that leads elsewhere by now stays. */
  unlinkLog(path: string, target: string): Promise<void>
  /** Writes a file of Docker that containers have mounted: in place, so that they see it. */
  writeInPlace(path: string, text: string): Promise<void>
  readText(path: string): Promise<string>
  /** The processes in the cgroup of a container, without those that have ended. */
  listProcesses(containerId: string): Promise<readonly { readonly pid: number; readonly name: string }[]>
  /** Kills a process, but only one that is in a cgroup of this container. */
  killInContainer(pid: number, containerId: string): Promise<void>
  /** Connects to ports in the network of a container, whose first process this is. */
  openDialer(pid: number, containerId: string): Promise<NamespaceDialer>
  /** The path of the network namespace of a container, whose first process this is; empty when that has ended. */
  findNetworkNamespace(pid: number, containerId: string): Promise<string>
  /** The lowest oom_score_adj that a process can get here. */
  leastOomScore(): number
}

const CAP_SYS_RESOURCE = 24n
const LEAST_OOM_SCORE = -1000

export const dockerFiles: DockerFiles = {
  async linkLog(path, target) {
    if ((await readLink(path)) === target) return
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    await unlessAbsent(unlink(path), undefined)
    await symlink(target, path)
    await removeDeadLinks(path, target)
  },

  async unlinkLog(path, target) {
    if ((await readLink(path)) === target) await unlessAbsent(unlink(path), undefined)
  },

  async writeInPlace(path, text) {
    const { O_WRONLY, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants
    await using file = await open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK)
    await file.write(text)
  },

  readText: (path) => readFile(path, 'utf8'),

  async listProcesses(containerId) {
    const found: { readonly pid: number; readonly name: string }[] = []
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
      if (!(await isInContainer(pid, containerId))) continue
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      const name = /^Name:\t(.*)$/m.exec(status)?.[1]
      const hasEnded = /^State:\t[ZX]/m.test(status)
      if (name !== undefined && !hasEnded) found.push({ pid, name })
    }
    return found
  },

  async killInContainer(pid, containerId) {
    if (!(await isInContainer(pid, containerId))) return
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error
    }
  },

  async openDialer(pid, containerId) {
    if (!(await isInContainer(pid, containerId)))
      throw new Error(`Cannot enter the network of "${containerId}": it ended`)
    return openNamespaceDialer(pid)
  },

  async findNetworkNamespace(pid, containerId) {
    return pid > 0 && (await isInContainer(pid, containerId)) ? `/proc/${pid}/ns/net` : ''
  },

  leastOomScore() {
    const status = readFileSync('/proc/self/status', 'utf8')
    const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
    if (((capabilities >> CAP_SYS_RESOURCE) & 1n) === 1n) return LEAST_OOM_SCORE
    return Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))
  },
}

/**
 * Earlier links beside this one whose container is gone from Docker, and its log with it: those of a node that was taken down and brought up
 * again, for example. This one is enough to count the restarts by. Only links into the same folder of Docker's are followed.
 */
async function removeDeadLinks(newest: string, target: string): Promise<void> {
  const folder = dirname(newest)
  const containers = dirname(dirname(target))
  for (const name of await readdir(folder)) {
    const link = `${folder}/${name}`
    const earlier = link === newest ? undefined : await readLink(link)
    if (earlier === undefined || dirname(dirname(earlier)) !== containers) continue
    if ((await unlessAbsent(lstat(dirname(earlier)), undefined)) !== undefined) continue
    await unlessAbsent(unlink(link), undefined)
  }
}

/** The number may be that of another process by now, or one of another pid namespace than ours. */
async function isInContainer(pid: number, containerId: string): Promise<boolean> {
  // Processes end while we read.
  return (await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')).includes(containerId)
}
