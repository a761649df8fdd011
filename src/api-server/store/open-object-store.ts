import { readOrCreateKey } from '../../host/key-file.ts'
import { setAside } from '../../host/set-aside.ts'
import { makeFolder } from '../../host/state-folder.ts'
import type { Clock } from '../../async/clock.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { DatabaseSync } from 'node:sqlite'
import { ObjectStore } from './object-store.ts'
import type { StoreLimits } from './object-store.ts'
import { CorruptDatabaseError, openDatabase } from './open-database.ts'
import { createValueSeal } from './seal-values.ts'
import type { ValueSeal } from './seal-values.ts'
import { StoreOpenError } from './store-errors.ts'
import { ValueCodec } from './value-codec.ts'

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
  // A watch that was away for minutes goes on without listing anew.
  historyVersions: 10_000,
  historyBytes: 32 * 1024 * 1024,
  maxBytes: 1024 * 1024 * 1024,
}

/** Opens the store of a folder. A broken database is set aside with a loud message, and an empty one takes its place. */
export async function openObjectStore(
  options: OpenStoreOptions,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<ObjectStore> {
  const { folder } = options
  await makeFolder(folder, FOLDER_MODE)
  const seal = createValueSeal(await readOrCreateKey(`${folder}/secrets.key`, KEY_BYTES))
  const database = await openOrSetAside(`${folder}/objects.db`, deps)
  try {
    beginFacts(database, deps.clock.now())
    checkKey(database, seal, folder)
    const codec = new ValueCodec(seal, options.sealedResources)
    return new ObjectStore({ database, codec, limits: { ...LIMITS, ...options.limits }, log: deps.log })
  } catch (error) {
    database.close()
    throw error
  }
}

async function openOrSetAside(path: string, deps: { clock: Clock; log: Logger }): Promise<DatabaseSync> {
  try {
    return openDatabase(path)
  } catch (error) {
    if (!(error instanceof CorruptDatabaseError)) throw error
    const suffix = `.corrupt-${new Date(deps.clock.now()).toISOString().replaceAll(/[:.]/g, '-')}`
    await setAside([path, `${path}-wal`, `${path}-shm`], suffix)
    deps.log.error('the database of the API is broken and was set aside; starting with an empty one', {
      database: path,
      setAside: `${path}${suffix}`,
      error,
    })
    return openDatabase(path)
  }
}

/** Versions begin at the time of birth in milliseconds, so that they grow even when an older database was lost. */
function beginFacts(database: DatabaseSync, now: number): void {
  const begin = database.prepare('INSERT OR IGNORE INTO facts (name, value) VALUES (?, ?)')
  for (const name of ['version', 'compacted']) begin.run(name, Math.max(1, Math.floor(now)))
}

/** Fails at the start, and not at the first secret, when the key is not the one that the secrets were sealed with. */
function checkKey(database: DatabaseSync, seal: ValueSeal, folder: string): void {
  const row = database.prepare("SELECT value FROM facts WHERE name = 'seal'").get() as { value: Uint8Array } | undefined
  if (row === undefined) {
    database.prepare("INSERT INTO facts (name, value) VALUES ('seal', ?)").run(seal.seal(SEAL_PROBE, 'seal'))
    return
  }
  try {
    seal.open(row.value, 'seal')
  } catch (error) {
    throw new StoreOpenError(
      `Cannot open "${folder}/objects.db": its secrets were sealed with another key than "${folder}/secrets.key"; put the old key back, or remove the database to begin anew`,
      { cause: error },
    )
  }
}
