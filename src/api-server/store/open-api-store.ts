import { basename, dirname } from 'node:path'
import { readOrCreateKey } from '../../system/files/key-file.ts'
import { listFolder, readTextIfPresent, removeTree } from '../../system/files/files-and-folders.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { DatabaseSync } from 'node:sqlite'
import { backupPathOf } from './back-up-database.ts'
import { ApiStore } from './api-store.ts'
import type { StoreLimits } from './api-store.ts'
import { CorruptDatabaseError, openDatabase } from './open-database.ts'
import { createValueSeal } from './seal-values.ts'
import type { ValueSeal } from './seal-values.ts'
import { StoreOpenError } from './store-errors.ts'
import { ValueCodec } from './value-codec.ts'
import { ensurePrivateFile, restrictMode } from '../../system/files/restrict-mode.ts'
import { makeFolder, writeFileDurably, setAside } from '../../system/files/state/durable-file.ts'

export interface OpenStoreOptions {
  /** The folder of the database and of the key that seals secrets. */
  readonly folder: string
  readonly sealedResources: readonly string[]
  readonly limits?: Partial<StoreLimits>
}

const KEY_BYTES = 32
const FOLDER_MODE = 0o700
const SEAL_PROBE = 'the key fits'
const LIMITS: StoreLimits = {
  // A watch that was away for minutes continues without a new list.
  historyVersions: 10_000,
  historyBytes: 32 * 1024 * 1024,
  maxBytes: 1024 * 1024 * 1024,
}

/** Opens the store of a folder. A broken database is set aside, and opening fails until the administrator has decided what takes its place. */
export async function openApiStore(
  options: OpenStoreOptions,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<ApiStore> {
  const { folder } = options
  const path = `${folder}/objects.db`
  await makeFolder(folder, FOLDER_MODE)
  const database = await openOrSetAside(path, deps)
  try {
    beginInfo(database, deps.clock.now())
    const seal = createValueSeal(await openKey(database, folder))
    checkKey(database, seal, folder)
    const codec = new ValueCodec(seal, options.sealedResources)
    const limits = { ...LIMITS, ...options.limits }
    return new ApiStore({ database, codec, limits, log: deps.log, backupPath: backupPathOf(path) })
  } catch (error) {
    database.close()
    throw error
  }
}

async function openOrSetAside(path: string, deps: { clock: Clock; log: Logger }): Promise<DatabaseSync> {
  const lost = `${path}.lost`
  if (!(await isFile(path))) {
    const undecided = await readTextIfPresent(lost)
    if (undecided !== undefined) throw new StoreOpenError(undecided.trimEnd())
  }
  try {
    // The log beside it gets the mode of the database.
    await ensurePrivateFile(path)
    for (const part of [`${path}-wal`, `${path}-shm`, backupPathOf(path)]) await restrictMode(part, 0o600)
    const database = openDatabase(path)
    await removeTree(lost)
    return database
  } catch (error) {
    if (!(error instanceof CorruptDatabaseError)) throw error
    const suffix = `.corrupt-${new Date(deps.clock.now()).toISOString().replaceAll(/[:.]/g, '-')}`
    const message = `${error.message}; it is broken and was set aside as "${path}${suffix}". ${await offer(path, lost)}`
    // First: a server that finds neither database nor note would begin with an empty one.
    await writeFileDurably(lost, `${message}\n`)
    await setAside([path, `${path}-wal`, `${path}-shm`], suffix)
    deps.log.error('the database of the API is broken and was set aside', { database: path, error })
    throw new StoreOpenError(message, { cause: error })
  }
}

/** What can be done: nothing of it happens by itself, since an empty API ends all pods that only the lost one knew. */
async function offer(path: string, lost: string): Promise<string> {
  const backup = backupPathOf(path)
  const restore = (await isFile(backup))
    ? `To go on with the copy that was made at most an hour before: mv ${backup} ${path}`
    : 'There is no copy of it'
  return `${restore}. To begin with an empty API, which ends the pods that only the lost one knew: rm ${lost}`
}

async function isFile(path: string): Promise<boolean> {
  return (await listFolder(dirname(path))).includes(basename(path))
}

/** The key that secrets are sealed with. None is made for a database that was sealed with one that is gone. */
async function openKey(database: DatabaseSync, folder: string): Promise<Uint8Array> {
  const path = `${folder}/secrets.key`
  if (readSeal(database) !== undefined && !(await isFile(path))) {
    throw new StoreOpenError(
      `Cannot open "${folder}/objects.db": "${path}", which its secrets were sealed with, is gone; put it back, or remove the database to start over`,
    )
  }
  return await readOrCreateKey(path, KEY_BYTES)
}

/** Versions begin at the time of birth in milliseconds, so that they grow even when an older database was lost. */
function beginInfo(database: DatabaseSync, now: number): void {
  const begin = database.prepare('INSERT OR IGNORE INTO facts (name, value) VALUES (?, ?)')
  const first = Math.max(1, Math.floor(now))
  for (const name of ['version', 'compacted']) begin.run(name, first)
  if (database.prepare("SELECT value FROM facts WHERE name = 'restored'").get() === undefined) return
  // Versions that were given after the copy was made are not given again, and every client that knows them lists again.
  const restore = database.prepare("UPDATE facts SET value = max(value + 1, ?) WHERE name = 'version'")
  database.exec('BEGIN IMMEDIATE')
  restore.run(first)
  database.exec(`
    UPDATE facts SET value = (SELECT value FROM facts WHERE name = 'version') WHERE name = 'compacted';
    DELETE FROM versions WHERE until IS NOT NULL;
    DELETE FROM facts WHERE name = 'restored';
    COMMIT`)
}

function readSeal(database: DatabaseSync): Uint8Array | undefined {
  const row = database.prepare("SELECT value FROM facts WHERE name = 'seal'").get()
  return (row as { value: Uint8Array } | undefined)?.value
}

/** Fails at the start, and not at the first secret, when the key is not the one that the secrets were sealed with. */
function checkKey(database: DatabaseSync, seal: ValueSeal, folder: string): void {
  const sealed = readSeal(database)
  if (sealed === undefined) {
    database.prepare("INSERT INTO facts (name, value) VALUES ('seal', ?)").run(seal.seal(SEAL_PROBE, 'seal'))
    return
  }
  try {
    seal.open(sealed, 'seal')
  } catch (error) {
    throw new StoreOpenError(
      `Cannot open "${folder}/objects.db": its secrets were sealed with another key than "${folder}/secrets.key"; put the old key back, or remove the database to start over`,
      { cause: error },
    )
  }
}
