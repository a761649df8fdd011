import { existsSync } from 'node:fs'
import { readdir, readFile, rmdir } from 'node:fs/promises'
import type { Clock } from '../../base/async/clock.ts'
import { openCgroupFiles } from './cgroup-files.ts'
import { hasCode } from '../files/error-codes.ts'

const MOUNT = '/sys/fs/cgroup'
// Exiting processes leave their cgroup a moment after they are gone from /proc.
const REMOVE_TRIES = 300
const REMOVE_PAUSE_MS = 10

/** The folders which are this cgroup: one on cgroup v2, one for each controller on v1. */
export async function cgroupFolders(path: string): Promise<readonly string[]> {
  if (isVersion2()) return [`${MOUNT}${path}`]
  const entries = await readdir(MOUNT, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${MOUNT}/${name}${path}`)
}

/** Makes a cgroup below the root, for all controllers that pods need; nothing happens where it is there. */
export function makeCgroup(path: string): void {
  openCgroupFiles(isVersion2() ? 2 : 1).make(path)
}

/** Whether any controller has it. */
export async function hasCgroup(path: string): Promise<boolean> {
  return (await presentFolders(path)).length > 0
}

/** Kills every process in a cgroup and below it, then removes it. */
export async function removeCgroup(clock: Clock, path: string, signal: AbortSignal): Promise<void> {
  const folders = await presentFolders(path)
  for (const folder of folders) {
    for (const below of await foldersBelow(folder)) await removeFolder(clock, below, signal)
  }
}

/** Kills every process in a cgroup and below it. */
export async function killCgroup(path: string): Promise<void> {
  const folders = await presentFolders(path)
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

async function presentFolders(path: string): Promise<readonly string[]> {
  return (await cgroupFolders(path)).filter((folder) => existsSync(folder))
}

function isVersion2(): boolean {
  return existsSync(`${MOUNT}/cgroup.controllers`)
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
      if (hasCode(error, 'ENOENT')) return
      if (!hasCode(error, 'EBUSY') || tries === REMOVE_TRIES) throw error
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
