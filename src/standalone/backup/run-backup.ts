import { dirname, resolve } from 'node:path'
import { BACKUP_PATH } from '../../api-server/rest/backup-path.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { copyTree, hashFile } from '../../system/files/copy-tree.ts'
import { makeFolder, renameDurably, writeFileDurably } from '../../system/files/state/durable-file.ts'
import { unlessAbsent } from '../../system/files/error-codes.ts'
import { inspectPath } from '../../system/files/read-bounded-file.ts'
import { readBytes, realFolder, removeTree } from '../../system/files/files-and-folders.ts'
import { runProcessOrThrow } from '../../system/processes/run-process.ts'
import { checkRoot } from '../node/check-requirements.ts'
import type { ClientDeps } from '../node/node-deps.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'
import { computeNodeLayout } from '../node/node-layout.ts'
import type { NodeLayout } from '../node/node-layout.ts'
import { readNodeRecord } from '../node/node-record.ts'
import type { NodeRecord } from '../node/node-record.ts'
import { isUpLocked } from '../node/up-lock.ts'
import { CONTENTS_FILE, fingerprintOf, FORMAT, KEY_PATHS, SAVED_PATHS, SECRETS_KEY } from './backup-contents.ts'
import type { BackupContents } from './backup-contents.ts'

export interface BackupOptions {
  readonly state: string
  readonly file: string
}

export interface BackupDeps extends ClientDeps {
  /** Copies the database of an API that is not served. */
  readonly copyDatabase: (from: string, to: string) => Promise<void>
}

/** The database of the API below the state folder. */
const DATABASE = 'api/objects/objects.db'
const DEADLINE_MS = 600_000

/** Where the keys of a backup are. */
export function keysFileOf(file: string): string {
  return `${file}.keys`
}

/** Writes a backup of a node, running or not, and its keys into a file beside it. */
export async function runBackup(deps: BackupDeps, options: BackupOptions, signal: AbortSignal): Promise<void> {
  checkRoot(deps.userId)
  const layout = computeNodeLayout(await realFolder(options.state))
  const record = await readNodeRecord(layout.record)
  if (record === undefined) throw new NodeError(`There is no node in ${layout.state}.`, exitCodes.otherState)
  // A new folder would more often be a wrong name, or a disk that is not mounted.
  if ((await inspectPath(dirname(resolve(options.file)))).kind !== 'directory')
    throw new NodeError(`Cannot back up the node to "${options.file}": there is no such folder`, exitCodes.failed)
  if ((await inspectPath(options.file)).kind === 'directory')
    throw new NodeError(
      `Cannot back up the node to "${options.file}": it is a folder, expected a file`,
      exitCodes.failed,
    )
  const staging = `${layout.state}/backup.new`
  try {
    await removeTree(staging)
    await makeFolder(staging, 0o700)
    await copyObjects(deps, { layout, to: `${staging}/data/${DATABASE}` }, signal)
    const about = await describeBackup(deps, layout, record)
    await pack(deps, { ...about, kind: 'backup', file: options.file, layout, staging: `${staging}/data` }, signal)
    await pack(
      deps,
      { ...about, kind: 'keys', file: keysFileOf(options.file), layout, staging: `${staging}/keys` },
      signal,
    )
  } catch (error) {
    signal.throwIfAborted()
    throw new NodeError(`Cannot back up the node: ${errorMessage(error)}`, exitCodes.failed, { cause: error })
  } finally {
    await removeTree(staging)
  }
  deps.say(`Saved the objects, manifests and settings of the node to ${options.file}`)
  deps.say(`and its keys to ${keysFileOf(options.file)}. Keep them apart: with both one can read the secrets.`)
  deps.say('Data of volumes and images are not in it.')
  if (record.manifests !== layout.manifests) deps.say(`Neither are the manifests in ${record.manifests}.`)
}

async function copyObjects(
  deps: BackupDeps,
  { layout, to }: { readonly layout: NodeLayout; readonly to: string },
  signal: AbortSignal,
): Promise<void> {
  const database = `${layout.state}/${DATABASE}`
  await makeFolder(dirname(to), 0o700)
  if (!(await isUpLocked(layout.upIdentity))) return await deps.copyDatabase(database, to)
  await using group = new TaskGroup(signal)
  const client = await deps.openClient(layout.adminKubeconfig, group)
  // Only the API may open its database; the copy that it makes is complete when it has its name.
  await client.send({ method: 'POST', path: BACKUP_PATH, timeoutMs: DEADLINE_MS }, group.signal)
  await copyTree(`${layout.state}/api/objects`, dirname(to), 'objects.db.backup')
  await renameDurably(`${dirname(to)}/objects.db.backup`, to)
}

async function describeBackup(
  deps: BackupDeps,
  layout: NodeLayout,
  { nodeName }: NodeRecord,
): Promise<Pick<BackupContents, 'createdAt' | 'nodeName' | 'keyFingerprint'>> {
  const keyFingerprint = fingerprintOf(await readBytes(`${layout.state}/${SECRETS_KEY}`))
  return { createdAt: new Date(deps.clock.now()).toISOString(), nodeName, keyFingerprint }
}

/** Copies what belongs into the file, lists it with its hashes, and makes the file at once. */
async function pack(
  deps: BackupDeps,
  request: Omit<BackupContents, 'format' | 'files'> & {
    readonly file: string
    readonly layout: NodeLayout
    readonly staging: string
  },
  signal: AbortSignal,
): Promise<void> {
  const { file, layout, staging, ...about } = request
  const paths = about.kind === 'keys' ? KEY_PATHS : SAVED_PATHS
  await makeFolder(staging, 0o700)
  const files = (
    await Promise.all(
      // The database is there already.
      paths.filter((path) => path !== DATABASE).map((path) => copyTree(layout.state, staging, path)),
    )
  ).flat()
  const hashed = about.kind === 'keys' ? files : [DATABASE, ...files]
  const hashes = await Promise.all(hashed.map(async (path) => [path, await hashFile(`${staging}/${path}`)] as const))
  const contents: BackupContents = { ...about, format: FORMAT, files: Object.fromEntries(hashes) }
  await writeFileDurably(`${staging}/${CONTENTS_FILE}`, `${JSON.stringify(contents, undefined, 2)}\n`, { mode: 0o600 })
  const unfinished = `${file}.new`
  try {
    await writeFileDurably(unfinished, '', { mode: 0o600 })
    const entries = [CONTENTS_FILE, ...hashed]
    const argv = [
      'tar',
      '--create',
      '--file',
      unfinished,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--directory',
      staging,
      '--verbatim-files-from',
      '--null',
      '--files-from',
      '-',
    ]
    await runProcessOrThrow(deps.clock, { argv, deadlineMs: DEADLINE_MS, stdin: entries.join('\0') }, signal)
    await renameDurably(unfinished, file)
  } finally {
    await removeTree(unfinished)
  }
}

/** Of the key that a state folder has; undefined without one. */
export async function readOwnFingerprint(state: string): Promise<string | undefined> {
  const key = await unlessAbsent(readBytes(`${state}/${SECRETS_KEY}`), undefined)
  return key && fingerprintOf(key)
}
