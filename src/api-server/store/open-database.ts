import { DatabaseSync } from 'node:sqlite'
import { StoreOpenError } from './store-errors.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

// One row per version of an object. "until" is the version that replaced it: none for what is there now, its own version for
// the mark that an object was deleted. So what was true at any version V is: version <= V and (until is null or until > V).
const TABLES = `
  CREATE TABLE IF NOT EXISTS versions (
    version INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    until INTEGER,
    owners TEXT,
    value ANY
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS present ON versions (resource, namespace, name) WHERE until IS NULL;
  CREATE INDEX IF NOT EXISTS changes ON versions (resource, version);
  CREATE INDEX IF NOT EXISTS replaced ON versions (until) WHERE until IS NOT NULL;
  DROP INDEX IF EXISTS owned;
  CREATE INDEX IF NOT EXISTS owned_by_one ON versions (owners) WHERE until IS NULL AND owners IS NOT NULL;
  CREATE INDEX IF NOT EXISTS owned_by_several ON versions (version) WHERE until IS NULL AND instr(trim(owners), ' ') > 0;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
`

/** The layout of the tables; a greater one is of a newer release. */
export const LAYOUT = 1
// Written to the log before they go into the file; more than this is given back to the disk.
const MAX_LOG_BYTES = 16 * 1024 * 1024
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/** The file is no database, or a broken one. */
export class CorruptDatabaseError extends Error {
  override readonly name = 'CorruptDatabaseError'
}

/** Opens the file, or makes it. Throws CorruptDatabaseError for what should be set aside. */
export function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  try {
    prepare(database, path)
    return database
  } catch (error) {
    database.close()
    const code = (error as { errcode?: number }).errcode ?? 0
    if (code === SQLITE_BUSY) {
      throw new StoreOpenError(`Cannot open "${path}": another process uses it`, { cause: error })
    }
    if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) {
      throw new CorruptDatabaseError(`Cannot use "${path}": ${errorMessage(error)}`, { cause: error })
    }
    throw error
  }
}

function prepare(database: DatabaseSync, path: string): void {
  // Exclusive: one process owns the file, and a second one fails. Full: what was acknowledged is on the disk.
  database.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = ${MAX_LOG_BYTES};
  `)
  const check = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
  if (check.quick_check !== 'ok') throw new CorruptDatabaseError(`Cannot use "${path}": ${check.quick_check}`)
  const { user_version: layout } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (layout > LAYOUT) {
    throw new StoreOpenError(
      `Cannot open "${path}": it has layout ${layout}, expected at most ${LAYOUT}: a newer release made it`,
    )
  }
  database.exec(`BEGIN IMMEDIATE; ${TABLES} PRAGMA user_version = ${LAYOUT}; COMMIT`)
}
