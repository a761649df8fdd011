import type { Clock } from '../../../base/async/clock.ts'
import { HeldDirectory } from './held-directory.ts'
import type { FileCalls } from './held-directory.ts'
import { isPayloadTree } from './payload.ts'
import type { Payload, PayloadTree } from './payload.ts'
import { parsePayload } from './parse-payload.ts'

/** Shows files in a volume so that readers see all of the old or all of the new ones. */
export interface AtomicWriter {
  /** One write at a time for a directory. The group gets to read everything. True when the content changed. */
  write(request: WriteRequest): Promise<boolean>
}

interface WriteRequest {
  readonly directory: string
  readonly payload: Payload
  readonly group: number | undefined
}

const DATA = '..data'
const NEW_DATA = '..data_tmp'
const VERSION = /^\.\.\d{4}(_\d\d){5}\.\d+$/
const DIRECTORY_MODE = 0o755
// What fsGroup adds in a volume that is read-only: reading, and for directories entering and staying the group's.
const GROUP_FILE_BITS = 0o440
const GROUP_DIRECTORY_BITS = 0o2550
const MOST_NAMES_TRIED = 10

/**
 * Files are in a directory with the time in its name; the link "..data" leads to it, and a link for each visible name leads through "..data":
 *
 *   ..2025_11_15_19_43_07.123456789/a.conf
 *   ..data -> ..2025_11_15_19_43_07.123456789
 *   a.conf -> ..data/a.conf
 *
 * Replacing "..data" is the one step in which the content changes. A writer that dies at any point leaves what the next one repairs.
 */
export function createAtomicWriter(deps: {
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  readonly files?: FileCalls
}): AtomicWriter {
  /** A directory of a name that was never used. */
  async function makeVersion(root: HeldDirectory): Promise<string> {
    const time = new Date(deps.clock.now()).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '_')
    for (let tries = 1; ; tries += 1) {
      const name = `..${time}.${Math.floor(deps.random() * 1e10)}`
      try {
        await root.makeDirectory(name)
        return name
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries === MOST_NAMES_TRIED) throw error
      }
    }
  }

  return {
    async write({ directory, payload, group }) {
      const tree = parsePayload(payload)
      await using root = await HeldDirectory.open(directory, deps.files)
      const names = await root.names()
      const current = await findCurrent(root, names)
      // Before new files: on a small file system they may need the room.
      await removeLeftovers(root, names, current)
      const changes = current === undefined || !(await isVersionOf(root, current, tree).catch(isNoDirectory))
      if (changes) {
        const version = await makeVersion(root)
        await fillDirectory(root, version, { tree, group })
        await root.makeLink(NEW_DATA, version)
        await root.rename(NEW_DATA, DATA)
      }
      await showNames(root, names, tree)
      await hideNames(root, names, tree)
      if (changes && current !== undefined) await root.remove(current)
      return changes
    },
  }
}

async function findCurrent(root: HeldDirectory, names: readonly string[]): Promise<string | undefined> {
  const target = await root.link(DATA)
  return target !== undefined && VERSION.test(target) && names.includes(target) ? target : undefined
}

async function removeLeftovers(root: HeldDirectory, names: readonly string[], current: string | undefined) {
  for (const name of names) if (name === NEW_DATA || (VERSION.test(name) && name !== current)) await root.remove(name)
}

/** By content alone: a mode that changed is no reason to write. */
async function isVersionOf(parent: HeldDirectory, name: string, tree: PayloadTree): Promise<boolean> {
  await using directory = await parent.directory(name)
  const names = await directory.names()
  if (names.length !== tree.size || !names.every((inner) => tree.has(inner))) return false
  for (const [inner, node] of tree) {
    const same = isPayloadTree(node)
      ? await isVersionOf(directory, inner, node).catch(isNoDirectory)
      : await directory.holdsFile(inner, node.content)
    if (!same) return false
  }
  return true
}

function isNoDirectory(error: unknown): false {
  if (['ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
  throw error
}

async function fillDirectory(
  parent: HeldDirectory,
  name: string,
  { tree, group }: { readonly tree: PayloadTree; readonly group: number | undefined },
): Promise<void> {
  await using directory = await parent.directory(name)
  for (const [inner, node] of tree) {
    if (isPayloadTree(node)) {
      await directory.makeDirectory(inner)
      await fillDirectory(directory, inner, { tree: node, group })
      continue
    }
    const mode = group === undefined ? node.mode : node.mode | GROUP_FILE_BITS
    await directory.writeFile(inner, node.content, { mode, owner: node.owner, group })
  }
  const mode = group === undefined ? DIRECTORY_MODE : DIRECTORY_MODE | GROUP_DIRECTORY_BITS
  await directory.setPermissions({ mode, owner: undefined, group })
}

/** What is there and no link is the mount point of another volume, which covers the name where it matters. */
async function showNames(root: HeldDirectory, names: readonly string[], tree: PayloadTree): Promise<void> {
  for (const name of tree.keys()) {
    const target = `${DATA}/${name}`
    const found = await root.link(name)
    if (found === target || (found === undefined && names.includes(name))) continue
    if (found !== undefined) await root.unlink(name)
    await root.makeLink(name, target)
  }
}

/** Only links of the writer's own kind: mount points of other volumes may be here too. */
async function hideNames(root: HeldDirectory, names: readonly string[], tree: PayloadTree): Promise<void> {
  for (const name of names)
    if (!tree.has(name) && (await root.link(name)) === `${DATA}/${name}`) await root.unlink(name)
}
