import { DatabaseSync } from 'node:sqlite'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { backUpDatabase } from './back-up-database.ts'
import { LAYOUT, openDatabase } from './open-database.ts'
import { createValueSeal } from './seal-values.ts'

/** What a copy of the API's database has in it. */
export interface BackupInfo {
  readonly objects: number
}

/** Checks a copy of the database before it takes the place of another: whole, of a layout that this release knows, sealed with this key. */
export function inspectBackup(path: string, key: Uint8Array): BackupInfo {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true })
    const check = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
    if (check.quick_check !== 'ok') throw new Error(check.quick_check)
    const { user_version: layout } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    if (layout > LAYOUT) throw new Error(`it has layout ${layout}, expected at most ${LAYOUT}: a newer release made it`)
    const sealed = database.prepare("SELECT value FROM facts WHERE name = 'seal'").get() as
      | { readonly value: Uint8Array }
      | undefined
    if (sealed !== undefined) checkSeal(sealed.value, key)
    const { objects } = database.prepare('SELECT count(*) AS objects FROM versions WHERE until IS NULL').get() as {
      objects: number
    }
    return { objects }
  } catch (error) {
    throw new Error(`the database in it cannot be used: ${errorMessage(error)}`, { cause: error })
  } finally {
    database?.close()
  }
}

/** Copies the database of an API that is not served. */
export async function copyClosedDatabase(from: string, to: string): Promise<void> {
  const database = openDatabase(from)
  try {
    await backUpDatabase(database, to)
  } finally {
    database.close()
  }
}

function checkSeal(sealed: Uint8Array, key: Uint8Array): void {
  try {
    createValueSeal(key).open(sealed, 'seal')
  } catch (cause) {
    throw new Error('its secrets were sealed with another key', { cause })
  }
}
