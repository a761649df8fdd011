import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'

type Columns = Readonly<Record<string, SQLOutputValue | Uint8Array>>

/** A row of the table of versions. */
export type VersionRow = {
  readonly version: number
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly until: number | null
  readonly value: string | Uint8Array | null
}

/** A change with the row that it replaced. */
export type ChangeRow = VersionRow & {
  readonly previousVersion: number | null
  readonly previousValue: string | Uint8Array | null
}

const COLUMNS = 'version, resource, namespace, name, until, value'
const AFTER = 'resource = ?1 AND (?2 IS NULL OR namespace = ?2) AND (namespace, name) > (?3, ?4)'

/** A prepared statement with the type of its rows, which its SQL determines. */
interface Query<Row> {
  get(...parameters: readonly SQLInputValue[]): Row | undefined
  all(...parameters: readonly SQLInputValue[]): Row[]
  iterate(...parameters: readonly SQLInputValue[]): Iterable<Row>
}

/** Every statement that the store uses, prepared once. */
export interface Statements {
  readonly get: Query<VersionRow>
  readonly list: Query<VersionRow>
  readonly listOf: Query<VersionRow>
  readonly listAt: Query<VersionRow>
  readonly insert: StatementSync
  readonly replace: StatementSync
  readonly changes: Query<ChangeRow>
  readonly owned: Query<VersionRow>
  readonly count: Query<{ readonly count: number }>
  readonly setInfo: StatementSync
  readonly getInfo: Query<{ readonly value: number }>
  readonly pages: Query<{ readonly bytes: number; readonly free: number }>
  readonly history: Query<{ readonly until: number; readonly bytes: number }>
  readonly forget: StatementSync
}

export function prepareStatements(database: DatabaseSync): Statements {
  const prepare = (sql: string) => database.prepare(sql)
  const query = <Row extends Columns>(sql: string) => toQuery<Row>(prepare(sql))
  return {
    get: query<VersionRow>(
      `SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND resource = ? AND namespace = ? AND name = ?`,
    ),
    list: query<VersionRow>(
      `SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND resource = ?1 AND (namespace, name) > (?2, ?3)
       AND (?4 IS NULL OR instr(value, ?4) > 0) ORDER BY namespace, name LIMIT ?5`,
    ),
    listOf: query<VersionRow>(
      `SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND resource = ?1 AND namespace = ?2 AND name > ?3
       AND (?4 IS NULL OR instr(value, ?4) > 0) ORDER BY name LIMIT ?5`,
    ),
    // What is so now and was so then, and the few that were replaced since: none but those are read.
    listAt: query<VersionRow>(
      `SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND ${AFTER} AND version <= ?5
       UNION ALL SELECT ${COLUMNS} FROM versions INDEXED BY replaced WHERE until > ?5 AND ${AFTER} AND version <= ?5
       ORDER BY namespace, name LIMIT ?6`,
    ),
    insert: prepare(
      'INSERT INTO versions (version, resource, namespace, name, until, owners, value) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    replace: prepare('UPDATE versions SET until = ?, owners = NULL WHERE version = ?'),
    changes: query<ChangeRow>(
      `SELECT v.version, v.resource, v.namespace, v.name, v.until, v.value,
              p.version AS previousVersion, p.value AS previousValue
       FROM versions v LEFT JOIN versions p ON p.until = v.version AND p.version < v.version
       WHERE v.resource = ?1 AND v.version > ?2 AND (?3 IS NULL OR instr(v.value, ?3) > 0 OR instr(p.value, ?3) > 0)
       ORDER BY v.version LIMIT ?4`,
    ),
    // Most have one owner, whose UID is all that is there; the others are few.
    owned: query<VersionRow>(
      `SELECT ${COLUMNS} FROM versions WHERE until IS NULL AND owners = ?1
       UNION ALL SELECT ${COLUMNS} FROM versions
       WHERE until IS NULL AND instr(trim(owners), ' ') > 0 AND instr(owners, ?1) > 0`,
    ),
    count: query<{ readonly count: number }>(
      'SELECT count(*) AS count FROM versions WHERE until IS NULL AND resource = ? AND (? IS NULL OR namespace = ?)',
    ),
    setInfo: prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)'),
    getInfo: query<{ readonly value: number }>('SELECT value FROM facts WHERE name = ?'),
    pages: query<{ readonly bytes: number; readonly free: number }>(
      `SELECT (page_count - freelist_count) * page_size AS bytes, freelist_count AS free
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    ),
    history: query<{ readonly until: number; readonly bytes: number }>(
      'SELECT until, coalesce(octet_length(value), 0) AS bytes FROM versions WHERE until > version ORDER BY until',
    ),
    forget: prepare('DELETE FROM versions WHERE until IS NOT NULL AND until <= ?'),
  }
}

function toQuery<Row extends Columns>(statement: StatementSync): Query<Row> {
  return {
    get: (...parameters) => statement.get(...parameters) as Row | undefined,
    all: (...parameters) => statement.all(...parameters) as Row[],
    iterate: (...parameters) => statement.iterate(...parameters) as Iterable<Row>,
  }
}
