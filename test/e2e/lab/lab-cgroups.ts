import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const MOUNT = '/sys/fs/cgroup'
// Exiting processes leave their cgroup a moment after they are gone from /proc.
const REMOVE_TRIES = 200

/** The folders which are this cgroup: one on cgroup v2, one for each controller on v1. */
export async function cgroupFolders(path: string): Promise<readonly string[]> {
  if (existsSync(`${MOUNT}/cgroup.controllers`)) return [`${MOUNT}${path}`]
  const entries = await readdir(MOUNT, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${MOUNT}/${name}${path}`)
}

/** Makes a cgroup below the root, for all controllers there are. */
export async function makeCgroup(path: string): Promise<void> {
  for (const folder of await cgroupFolders(path)) {
    await mkdir(folder)
    if (existsSync(`${folder}/cgroup.subtree_control`)) {
      const controllers = (await readFile(`${folder}/cgroup.controllers`, 'utf8')).trim().split(' ').filter(Boolean)
      for (const name of controllers) await writeFile(`${folder}/cgroup.subtree_control`, `+${name}`).catch(() => {})
    }
    // On v1 a cpuset starts empty, and nothing can run in it.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const own = `${folder}/${file}`
      if (!existsSync(own) || (await readFile(own, 'utf8')).trim() !== '') continue
      await writeFile(own, await readFile(`${folder}/../${file}`, 'utf8')).catch(() => {})
    }
  }
}

/** Removes a cgroup with all below it. Its processes must be dead. */
export async function removeCgroup(path: string): Promise<void> {
  for (const folder of await cgroupFolders(path)) {
    if (existsSync(folder)) await removeBottomUp(folder)
  }
}

async function removeBottomUp(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeBottomUp(`${folder}/${entry.name}`)
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return await rmdir(folder)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      if (code !== 'EBUSY' || tries === REMOVE_TRIES) throw error
      await sleep(10)
    }
  }
}
