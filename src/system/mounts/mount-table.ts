import { readFile } from 'node:fs/promises'

/** One line of the kernel's mount table. */
export interface MountEntry {
  readonly id: number
  readonly parentId: number
  /** As in 8:1. */
  readonly device: string
  /** Which folder of the file system is mounted. */
  readonly root: string
  readonly point: string
  readonly options: readonly string[]
  readonly isShared: boolean
  readonly fileSystem: string
  readonly source: string
  readonly superOptions: readonly string[]
}

const OPTIONAL_FIELDS = 6
const MOST_READS = 3

/** The mounts of this process's namespace, in the order in which they were made. */
export async function readMountTable(): Promise<readonly MountEntry[]> {
  // The kernel hands the table out in pieces, and old ones skip a line when a mount goes away in between: two equal readings are complete.
  let text = ''
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const next = await readFile('/proc/self/mountinfo', 'utf8')
    if (next === text) break
    text = next
  }
  return parseMountTable(text)
}

/** Reads the text of /proc/<pid>/mountinfo; a line that makes no sense is left out. */
export function parseMountTable(text: string): readonly MountEntry[] {
  return text.split('\n').flatMap((line) => parseLine(line.split(' ')) ?? [])
}

/** Mount points in a folder, deepest first: the order in which they can be unmounted. */
export function mountPointsBelow(table: readonly MountEntry[], folder: string): readonly string[] {
  const points = table.map(({ point }) => point).filter((point) => point === folder || point.startsWith(`${folder}/`))
  // Later mounts may stand on earlier ones.
  return points.toReversed()
}

/**
 * Mount points below a folder that lie in no other one there, each once. What lies in one of them may be shared with the node, which would lose it
 * too if it were unmounted here; as long as it is there, the outer one is busy.
 */
export function outerMountPointsBelow(table: readonly MountEntry[], folder: string): readonly string[] {
  const points = mountPointsBelow(table, folder).filter((point) => point !== folder)
  return [...new Set(points)].filter((point) => !points.some((other) => point.startsWith(`${other}/`)))
}

/**
 * The mounts that a path leads over, from the root to the one it is on, without a stat of the path itself. The table alone does not show
 * whether a mount can be reached: a later one above it may hide it.
 */
export function mountsOnTheWay(table: readonly MountEntry[], path: string): readonly MountEntry[] {
  const around = table.filter(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
  let current: MountEntry | undefined = around.find(
    ({ point, id, parentId }) => point === '/' && (parentId === id || !table.some((entry) => entry.id === parentId)),
  )
  // In a chroot the root need not be a mount.
  if (current === undefined) return around
  const way: MountEntry[] = []
  while (current !== undefined && !way.includes(current)) {
    way.push(current)
    const { id } = current
    const onTop: readonly MountEntry[] = around.filter((entry) => entry.parentId === id && !way.includes(entry))
    current = onTop.toSorted((a, b) => a.point.length - b.point.length)[0]
  }
  return way
}

function parseLine(fields: readonly string[]): MountEntry | undefined {
  const [id = '', parentId = '', device = '', root = '', point = '', options = ''] = fields
  const dash = fields.indexOf('-', OPTIONAL_FIELDS)
  const [fileSystem, source, ...superOptions] = dash === -1 ? [] : fields.slice(dash + 1)
  if (fileSystem === undefined || source === undefined) return undefined
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    root: unescape(root),
    point: unescape(point),
    options: options.split(','),
    isShared: fields.slice(OPTIONAL_FIELDS, dash).some((field) => field.startsWith('shared:')),
    fileSystem,
    source: unescape(source),
    superOptions: unescape(superOptions.join(' ')).split(','),
  }
}

/** Blanks, line ends and backslashes are written as three octal digits. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
