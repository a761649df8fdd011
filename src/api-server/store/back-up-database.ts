import { backup, DatabaseSync } from 'node:sqlite'
import { removeTree } from '../../system/files/files-and-folders.ts'
import { ensurePrivateFile } from '../../system/files/restrict-mode.ts'
import { renameDurably } from '../../system/files/state/durable-file.ts'

/** The copy of a database that is kept next to it. */
export function backupPathOf(databasePath: string): string {
  return `${databasePath}.backup`
}

// Between so many pages others get their turn.
const PAGES_AT_ONCE = 200

/**
 * Copies a database that is in use. The copy is marked as one, so that a server that opens it knows that time has gone back;
 * it takes the place of the last copy when it is complete.
 */
export async function backUpDatabase(database: DatabaseSync, path: string): Promise<void> {
  const unfinished = `${path}.new`
  await removeTree(unfinished)
  await ensurePrivateFile(unfinished)
  await backup(database, unfinished, { rate: PAGES_AT_ONCE })
  const copy = new DatabaseSync(unfinished)
  try {
    // All of it in one file, which can be moved.
    copy.exec('PRAGMA journal_mode = DELETE')
    copy.exec("INSERT OR REPLACE INTO facts (name, value) VALUES ('restored', 1)")
  } finally {
    copy.close()
  }
  await renameDurably(unfinished, path)
}
