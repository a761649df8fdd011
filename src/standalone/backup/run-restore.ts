import { errorMessage } from '../../base/telemetry/error-text.ts'
import { copyTree } from '../../system/files/copy-tree.ts'
import { makeFolder } from '../../system/files/state/durable-file.ts'
import { inspectPath } from '../../system/files/read-bounded-file.ts'
import { readBytes, realFolder, removeTree } from '../../system/files/files-and-folders.ts'
import { checkRoot } from '../node/check-requirements.ts'
import type { StandaloneDeps } from '../node/node-deps.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'
import { computeNodeLayout } from '../node/node-layout.ts'
import { isUpLocked } from '../node/up-lock.ts'
import { KEY_PATHS, SECRETS_KEY } from './backup-contents.ts'
import { beginRestore, finishRestore } from './replace-node.ts'
import { keysFileOf, readOwnFingerprint } from './run-backup.ts'
import { unpackBackup } from './unpack-backup.ts'

export interface RestoreOptions {
  readonly state: string
  readonly file: string
  /** Undefined: beside the file, or those of the node. */
  readonly keys: string | undefined
}

export interface RestoreDeps extends StandaloneDeps {
  /** Checks a copy of the API's database, and counts its objects. */
  readonly inspectDatabase: (path: string, key: Uint8Array) => { readonly objects: number }
}

/** Puts a backup in the place of what a stopped node has. All of it is checked first; what was there before is kept aside. */
export async function runRestore(deps: RestoreDeps, options: RestoreOptions, signal: AbortSignal): Promise<void> {
  checkRoot(deps.userId)
  await makeFolder(options.state)
  const layout = computeNodeLayout(await realFolder(options.state))
  if (await isUpLocked(layout.upIdentity)) {
    const message = 'Cannot restore: the node runs; stop it first with "deckhand down"'
    throw new NodeError(message, exitCodes.otherState)
  }
  const staging = `${layout.state}/restore.new`
  try {
    await removeTree(staging)
    // What is replaced now is then a whole node.
    await finishRestore(layout.state, deps.clock)
    const restored = await unpack(deps, { options, staging, state: layout.state }, signal)
    await beginRestore(layout.state, staging)
    const aside = await finishRestore(layout.state, deps.clock)
    deps.say(`Restored ${restored.objects} objects of node "${restored.nodeName}" as of ${restored.createdAt}.`)
    if (aside !== undefined) deps.say(`What was there before is in ${aside}.`)
    deps.say('Start the node with "deckhand up". Data of volumes and images were not in the backup.')
  } finally {
    await removeTree(staging)
  }
}

async function unpack(
  deps: RestoreDeps,
  { options, staging, state }: { readonly options: RestoreOptions; readonly staging: string; readonly state: string },
  signal: AbortSignal,
) {
  const { file } = options
  const contents = await unpackBackup(deps.clock, { file, kind: 'backup', folder: `${staging}/data` }, signal).catch(
    refuse(file, signal),
  )
  const keys = await findKeys(options)
  if (keys === undefined) {
    if ((await readOwnFingerprint(state)) !== contents.keyFingerprint)
      throw new NodeError(
        `Cannot restore "${file}": its keys are needed; name the file with --keys, expected ${keysFileOf(file)}`,
        exitCodes.failed,
      )
    for (const path of KEY_PATHS) await copyTree(state, `${staging}/keys`, path)
  } else {
    const found = await unpackBackup(deps.clock, { file: keys, kind: 'keys', folder: `${staging}/keys` }, signal).catch(
      refuse(keys, signal),
    )
    if (found.keyFingerprint !== contents.keyFingerprint)
      throw new NodeError(
        `Cannot restore "${file}": the keys in "${keys}" are those of another backup`,
        exitCodes.failed,
      )
  }
  try {
    const key = await readBytes(`${staging}/keys/${SECRETS_KEY}`)
    return { ...contents, ...deps.inspectDatabase(`${staging}/data/api/objects/objects.db`, key) }
  } catch (error) {
    return refuse(file, signal)(error)
  }
}

async function findKeys({ file, keys }: RestoreOptions): Promise<string | undefined> {
  if (keys !== undefined) return keys
  return (await inspectPath(keysFileOf(file))).kind === 'file' ? keysFileOf(file) : undefined
}

function refuse(file: string, signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    signal.throwIfAborted()
    throw new NodeError(`Cannot restore "${file}": ${errorMessage(error)}`, exitCodes.failed, { cause: error })
  }
}
