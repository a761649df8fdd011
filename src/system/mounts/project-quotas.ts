import { readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { KeyedLock } from '../../base/async/keyed-lock.ts'
import { makeFolder } from '../files/state/durable-file.ts'
import { unlessAbsent } from '../files/error-codes.ts'
import type { TreeUsage } from '../files/file-usage.ts'
import { mountsOnTheWay, readMountTable } from './mount-table.ts'
import type { MountEntry } from './mount-table.ts'
import { runProcessOrThrow } from '../processes/run-process.ts'

/** The project quotas of the kernel: directories get a number, and the file system counts what each number takes. */
export interface ProjectQuotas {
  /** Where the file system of a directory is mounted. */
  pointOf(directory: string): Promise<string>
  /** True when the file system there counts for projects. */
  counts(point: string, signal: AbortSignal): Promise<boolean>
  /** Numbers that the machine's administrators gave away. */
  foreignIds(): Promise<ReadonlySet<number>>
  /** What is made in the directory from now on counts for the project; nothing is limited. */
  assign(directory: string, id: number, signal: AbortSignal): Promise<void>
  /** What all projects of a file system take. */
  report(point: string, signal: AbortSignal): Promise<ReadonlyMap<number, TreeUsage>>
}

const DEADLINE_MS = 10_000
const FILE_SYSTEMS: readonly string[] = ['ext4', 'xfs']
// The project, its blocks and limits, warnings and grace, its inodes and limits.
const REPORT_LINE = /^#(\d+)\s+(\d+)\s+\d+\s+\d+\s+\d+ \[[^\]]*\]\s+(\d+)\s/
const REPORT_UNIT_BYTES = 1024

/** Through xfs_quota, which also speaks for ext4, and chattr. The file names one mount, so that xfs_quota reads no other. */
export function createProjectQuotas(deps: { readonly clock: Clock; readonly mountsFile: string }): ProjectQuotas {
  // There is one file.
  const lock = new KeyedLock()
  const run = (argv: readonly string[], signal: AbortSignal) =>
    runProcessOrThrow(deps.clock, { argv, deadlineMs: DEADLINE_MS }, signal)

  async function ask(mount: MountEntry, command: string, signal: AbortSignal): Promise<string> {
    const lists = ['-t', deps.mountsFile, '-P/dev/null', '-D/dev/null']
    const argv = ['xfs_quota', ...lists, '-x', '-f', '-c', command, mount.point]
    const work = async () => {
      await makeFolder(dirname(deps.mountsFile))
      // In place: only the command after this one reads it.
      await writeFile(deps.mountsFile, toMountsLine(mount))
      return await run(argv, signal)
    }
    const { stdout, stderr } = await lock.hold('', work, signal)
    // It ends with 0 whatever happens.
    if (stdout.trim() === '') throw new Error(`Cannot ask for quotas at "${mount.point}": ${stderr.trim()}`)
    return stdout
  }

  return {
    pointOf: async (directory) => mountsOnTheWay(await readMountTable(), directory).at(-1)?.point ?? '/',

    async counts(point, signal) {
      const mount = await mountAt(point)
      if (!FILE_SYSTEMS.includes(mount.fileSystem)) return false
      return (await ask(mount, 'state -p', signal)).includes('Accounting: ON')
    },

    foreignIds: readForeignIds,

    async assign(directory, id, signal) {
      await run(['chattr', '+P', '-p', String(id), '--', directory], signal)
    },

    async report(point, signal) {
      return parseQuotaReport(await ask(await mountAt(point), 'report -p -N -n -b -i', signal))
    },
  }
}

/** Reads what xfs_quota says of all projects. */
export function parseQuotaReport(text: string): ReadonlyMap<number, TreeUsage> {
  const rows = text.split('\n').flatMap((line) => {
    const [, id, kibibytes, inodes] = REPORT_LINE.exec(line) ?? []
    if (id === undefined) return []
    return [[Number(id), { bytes: Number(kibibytes) * REPORT_UNIT_BYTES, inodes: Number(inodes) }] as const]
  })
  if (rows.length === 0) throw new Error(`Cannot read a report of quotas: no project in ${JSON.stringify(text)}`)
  return new Map(rows)
}

/** The later one hides the earlier. */
async function mountAt(point: string): Promise<MountEntry> {
  const mount = (await readMountTable()).findLast((entry) => entry.point === point)
  if (mount === undefined) throw new Error(`Cannot ask for quotas at "${point}": nothing is mounted there`)
  return mount
}

/** As in /proc/self/mounts. */
function toMountsLine({ source, point, fileSystem, superOptions }: MountEntry): string {
  const escape = (text: string) =>
    text.replaceAll(/[\s\\]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return `${escape(source)} ${escape(point)} ${fileSystem} ${escape(superOptions.join(','))} 0 0\n`
}

/** Of lines such as "42:/srv/data" and "data:42". */
async function readForeignIds(): Promise<ReadonlySet<number>> {
  const read = (path: string) => unlessAbsent(readFile(path, 'utf8'), '')
  const [projects, names] = await Promise.all(['/etc/projects', '/etc/projid'].map(read))
  const ids = [...(projects ?? '').matchAll(/^(\d+):/gm), ...(names ?? '').matchAll(/:(\d+)\s*$/gm)]
  return new Set(ids.map(([, id]) => Number(id)))
}
