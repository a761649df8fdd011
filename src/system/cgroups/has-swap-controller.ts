import { existsSync, readdirSync } from 'node:fs'

/** Whether the kernel can limit swap by cgroup. On version 2 the root has no such file, so one of the cgroups below has to show it. */
export function hasSwapController(version: 1 | 2, mount = '/sys/fs/cgroup'): boolean {
  if (version === 1) return existsSync(`${mount}/memory/memory.memsw.limit_in_bytes`)
  return ['.', ...listFolders(mount)].some((name) => existsSync(`${mount}/${name}/memory.swap.max`))
}

function listFolders(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
