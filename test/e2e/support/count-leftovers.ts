import { existsSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { LabAgent } from '../lab/lab-agent.ts'

/** What an agent holds and has on the disk: after pods have come and gone it is the same as before. */
export interface Leftovers {
  readonly pods: readonly string[]
  /** Files and directories of plugins. */
  readonly plugins: readonly string[]
  /** In the directory of the agent. */
  readonly mounts: readonly string[]
  readonly children: number
  /** Of the agent, by what they lead to. */
  readonly descriptors: Readonly<Record<string, number>>
}

/** Observes an agent from outside. */
export async function countLeftovers({ pid, rootDir }: LabAgent): Promise<Leftovers> {
  const table = (await readFile(`/proc/${pid}/mountinfo`, 'utf8')).trimEnd().split('\n')
  const points = table.map((line) => line.split(' ')[4] ?? '')
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)
  return {
    pods: await list(join(rootDir, 'pods')),
    plugins: await list(join(rootDir, 'plugins')),
    mounts: points.filter((point) => point.startsWith(`${rootDir}/`)),
    children: children.length,
    descriptors: await countDescriptors(pid),
  }
}

async function list(folder: string): Promise<readonly string[]> {
  return existsSync(folder) ? (await readdir(folder, { recursive: true })).toSorted() : []
}

async function countDescriptors(pid: number): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const fd of await readdir(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')
    // The number in socket:[123] or pipe:[123] has no meaning.
    const kind = target.replace(/:\[\d+\]$/, '')
    if (kind !== '') counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}
