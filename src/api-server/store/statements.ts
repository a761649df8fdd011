import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** A row of the table of versions. */
export interface VersionRow {
  readonly version: number
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly until: number | null
  readonly value: string | Uint8Array | null
}

/** A change with the row that it replaced. */
export interface ChangeRow extends VersionRow {
  readonly previousVersion: number | null
  readonly previousValue: string | Uint8Array | null
}

const COLUMNS = 'version, resource, namespace, name, until, value'
const AFTER = 'resource = ? AND (? IS NULL OR namespace = ?) AND (namespace, name) > (?, ?)'

/** Every statement that the store uses, prepared once. */
export interface Statements {
  readonly get: StatementSync
  readonly list: StatementSync
  readonly listOf: StatementSync
  readonly listAt: StatementSync
  readonly insert: StatementSync
  readonly replace: StatementSync
  readonly changes: StatementSync
  readonly owned: StatementSync
  readonly count: StatementSync
  readonly setInfo: StatementSync
  readonly getInfo: StatementSync
  readonly pages: StatementSync
  readonly history: StatementSync
  readonly forget: StatementSync
}

export function prepareStatements(database: DatabaseSync): Statements {
  const prepare = (sql: string) => database.prepare(sql)
  return {
    get: prepare(`SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND resource = ? AND namespace = ? AND name = ?`),
    list: prepare(
      `SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND resource = ? AND (namespace, name) > (?, ?)
       ORDER BY namespace, name LIMIT ?`,
    ),
    listOf: prepare(
      `SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND resource = ? AND namespace = ? AND name > ?
       ORDER BY name LIMIT ?`,
    ),
    listAt: prepare(
      `SELECT ${COLUMNS} FROM versions WHERE ${AFTER} AND version <= ? AND (until IS NULL OR until > ?)
       ORDER BY namespace, name LIMIT ?`,
    ),
    insert: prepare(
      'INSERT INTO versions (version, resource, namespace, name, until, owners, value) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    replace: prepare('UPDATE versions SET until = ?, owners = NULL WHERE version = ?'),
    changes: prepare(
      `SELECT v.version, v.resource, v.namespace, v.name, v.until, v.value,
              p.version AS previousVersion, p.value AS previousValue
       FROM versions v LEFT JOIN versions p ON p.until = v.version AND p.version < v.version
       WHERE v.resource = ? AND v.version > ? ORDER BY v.version LIMIT ?`,
    ),
    owned: prepare(`SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND owners IS NOT NULL AND instr(owners, ?)`),
    count: prepare(
      'SELECT count(*) AS count FROM versions WHERE until IS NULL AND resource = ? AND (? IS NULL OR namespace = ?)',
    ),
    setInfo: prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)'),
    getInfo: prepare('SELECT value FROM facts WHERE name = ?'),
    pages: prepare(
      `SELECT (page_count - freelist_count) * page_size AS bytes, freelist_count AS free
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    ),
    history: prepare(
      'SELECT until, coalesce(octet_length(value), 0) AS bytes FROM versions WHERE until IS NOT NULL ORDER BY until',
    ),
    forget: prepare('DELETE FROM versions WHERE until IS NOT NULL AND until <= ?'),
  }
}
