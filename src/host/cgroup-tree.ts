import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import type { Clock } from '../async/clock.ts'

const MOUNT = '/sys/fs/cgroup'
// Exiting processes leave their cgroup a moment after they are gone from /proc.
const REMOVE_TRIES = 300
const REMOVE_PAUSE_MS = 10

/** The folders which are this cgroup: one on cgroup v2, one for each controller on v1. */
export async function cgroupFolders(path: string): Promise<readonly string[]> {
  if (existsSync(`${MOUNT}/cgroup.controllers`)) return [`${MOUNT}${path}`]
  const entries = await readdir(MOUNT, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${MOUNT}/${name}${path}`)
}

/** Makes a cgroup below the root, for all controllers there are; nothing happens where it is there. */
export async function makeCgroup(path: string): Promise<void> {
  for (const folder of await cgroupFolders(path)) {
    await mkdir(folder, { recursive: true })
    await delegateControllers(folder)
    for (const file of ['cpuset.cpus', 'cpuset.mems']) await inheritCpuset(folder, file)
  }
}

/** Kills every process in a cgroup and below it, then removes it. */
export async function removeCgroup(clock: Clock, path: string, signal: AbortSignal): Promise<void> {
  const folders = (await cgroupFolders(path)).filter((folder) => existsSync(folder))
  for (const folder of folders) {
    for (const below of await foldersBelow(folder)) await removeFolder(clock, below, signal)
  }
}

/** Kills every process in a cgroup and below it. */
export async function killCgroup(path: string): Promise<void> {
  const folders = (await cgroupFolders(path)).filter((folder) => existsSync(folder))
  for (const folder of folders) for (const below of await foldersBelow(folder)) await killProcesses(below)
}

/** Names of the cgroups directly below this one, of all controllers together. */
export async function listCgroupNames(path: string): Promise<readonly string[]> {
  const lists = (await cgroupFolders(path)).map(async (folder) => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  })
  return [...new Set((await Promise.all(lists)).flat())]
}

/** On v2 a controller works in a cgroup only when the one above passes it on. */
async function delegateControllers(folder: string): Promise<void> {
  if (!existsSync(`${folder}/cgroup.subtree_control`)) return
  const controllers = (await readFile(`${folder}/cgroup.controllers`, 'utf8')).trim().split(' ').filter(Boolean)
  // One by one: a controller that cannot be passed on must not keep back the others.
  for (const name of controllers) await writeFile(`${folder}/cgroup.subtree_control`, `+${name}`).catch(() => {})
}

/** On v1 a cpuset starts empty, and nothing can run in it. */
async function inheritCpuset(folder: string, file: string): Promise<void> {
  const own = await readFile(`${folder}/${file}`, 'utf8').catch(() => undefined)
  if (own?.trim() !== '') return
  await writeFile(`${folder}/${file}`, await readFile(`${folder}/../${file}`, 'utf8')).catch(() => {})
}

/** The folder and all below it, deepest first. */
async function foldersBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const children = entries.filter((entry) => entry.isDirectory()).map(({ name }) => foldersBelow(`${folder}/${name}`))
  return [...(await Promise.all(children)).flat(), folder]
}

async function removeFolder(clock: Clock, folder: string, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rmdir(folder)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      if (code !== 'EBUSY' || tries === REMOVE_TRIES) throw error
      await killProcesses(folder)
      await clock.sleep(REMOVE_PAUSE_MS, signal)
    }
  }
}

async function killProcesses(folder: string): Promise<void> {
  const pids = (await readFile(`${folder}/cgroup.procs`, 'utf8').catch(() => '')).split('\n').map(Number)
  for (const pid of pids) {
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }
}
