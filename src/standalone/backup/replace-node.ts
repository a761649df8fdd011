import { dirname } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { syncTree } from '../../system/files/copy-tree.ts'
import { makeFolder, renameDurably, writeFileDurably } from '../../system/files/state/durable-file.ts'
import { inspectPath } from '../../system/files/read-bounded-file.ts'
import { readTextIfPresent, removeTree } from '../../system/files/files-and-folders.ts'
import { KEY_PATHS, SAVED_PATHS } from './backup-contents.ts'

/** Below the state folder: what is to be put in its place, complete and checked. There only while that is being done. */
const READY = 'restore.ready'
const PLAN = 'plan.json'
/** Files beside the database that belong to the one before. */
const LEFT_OF_DATABASE = ['objects.db-wal', 'objects.db-shm', 'objects.db.lost', 'objects.db.backup']
/** Each path with the folder of the staging that has it. The database last: keys without it are no harm, but it would not open without them. */
const PLACES: readonly (readonly [folder: string, path: string])[] = [
  ...KEY_PATHS.map((path) => ['keys', path] as const),
  ...SAVED_PATHS.toReversed().map((path) => ['data', path] as const),
]

/** Decides on what replaces the files of a node; from here on it is done, by the next command if not by this one. */
export async function beginRestore(state: string, staging: string): Promise<void> {
  const planned: string[] = []
  for (const [folder, path] of PLACES) if (await isThere(`${staging}/${folder}/${path}`)) planned.push(path)
  await writeFileDurably(`${staging}/${PLAN}`, JSON.stringify(planned), { mode: 0o600 })
  await syncTree(staging)
  await renameDurably(staging, `${state}/${READY}`)
}

/**
 * Does what was decided, also the rest of it when it was cut off: without it a node would be half an old one, or an empty one. What was there before
 * goes into a folder whose path is returned; undefined when there was nothing, or nothing to do.
 */
export async function finishRestore(state: string, clock: Clock, move = renameDurably): Promise<string | undefined> {
  const ready = `${state}/${READY}`
  const plan = await readTextIfPresent(`${ready}/${PLAN}`)
  if (plan === undefined) return undefined
  const planned = JSON.parse(plan) as readonly string[]
  const aside = `${state}/before-restore-${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-')}`
  let isAside = false
  const putAside = async (path: string) => {
    if (!(await isThere(`${state}/${path}`))) return
    await makeFolder(dirname(`${aside}/${path}`), 0o700)
    await move(`${state}/${path}`, `${aside}/${path}`)
    isAside = true
  }
  // Everything that is not in the backup goes aside too: the node is to be as it was.
  const besides = LEFT_OF_DATABASE.map((name) => `api/objects/${name}`)
  for (const path of [...SAVED_PATHS, ...besides, ...KEY_PATHS]) if (!planned.includes(path)) await putAside(path)
  for (const [folder, path] of PLACES) {
    const from = `${ready}/${folder}/${path}`
    // One that is not there any more is in its place.
    if (!(await isThere(from))) continue
    await putAside(path)
    await makeFolder(dirname(`${state}/${path}`), 0o700)
    await move(from, `${state}/${path}`)
  }
  await removeTree(ready)
  return isAside ? aside : undefined
}

async function isThere(path: string): Promise<boolean> {
  return (await inspectPath(path)).kind !== 'missing'
}
