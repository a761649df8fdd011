import type { DatabaseSync } from 'node:sqlite'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { StoreKey, StoredObject, StoreEvent } from './api-object.ts'
import { backUpDatabase } from './back-up-database.ts'
import { RecentEvents } from './recent-events.ts'
import { prepareStatements } from './statements.ts'
import type { ChangeRow, Statements, VersionRow } from './statements.ts'
import { CompactedError } from './store-errors.ts'
import { atVersion, DatabaseTransaction } from './transaction.ts'
import type { ListScope, StoreTransaction } from './transaction.ts'
import type { ValueCodec } from './value-codec.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

export interface StoreLimits {
  /** How many replaced versions are kept for watches and lists that began earlier. */
  readonly historyVersions: number
  readonly historyBytes: number
  /** How large the file may grow. */
  readonly maxBytes: number
}

/** Part of a list. */
export interface ListPage extends ListScope {
  /** As things were at this version; undefined: as they are. */
  readonly version?: number | undefined
  /** Only what comes behind this one. */
  readonly after?: { readonly namespace: string; readonly name: string } | undefined
  readonly limit?: number | undefined
  /** Those without this in their text need not be listed, and most are not: they would have to be read only to be left out. */
  readonly containing?: string | undefined
}

export interface ApiStoreDeps {
  readonly backupPath: string
  readonly database: DatabaseSync
  readonly codec: ValueCodec
  readonly limits: StoreLimits
  readonly log: Logger
}

interface Operation {
  run(transaction: StoreTransaction): void
  settle(failure?: unknown): void
}

// So many operations share one write to the disk; more would make the first ones wait.
const MAX_BATCH = 100
// A quarter goes at once, so that compaction is seldom.
const KEPT_SHARE = 0.75
const PAGES_FREED_AT_ONCE = 1000

/**
 * Objects with one version number for all changes, and the history of the last of them. A write is acknowledged when it is on the
 * disk. Operations that come together share one transaction; one that fails leaves the others as they are.
 */
export class ApiStore implements Disposable {
  readonly #database: DatabaseSync
  readonly #statements: Statements
  readonly #codec: ValueCodec
  readonly #limits: StoreLimits
  readonly #log: Logger
  readonly #backupPath: string
  readonly #recent = new Map<string, RecentEvents>()
  readonly #watchers = new Map<string, Set<() => void>>()
  #queue: Operation[] = []
  #version: number
  #compacted: number
  #replaced = { versions: 0, bytes: 0 }
  #lastBackup: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(deps: ApiStoreDeps) {
    this.#database = deps.database
    this.#statements = prepareStatements(deps.database)
    this.#codec = deps.codec
    this.#limits = deps.limits
    this.#log = deps.log
    this.#backupPath = deps.backupPath
    this.#version = this.#info('version')
    this.#compacted = this.#info('compacted')
    for (const { bytes } of this.#statements.history.iterate()) this.#countReplaced(bytes)
  }

  /** The version of the last change. */
  get version(): number {
    return this.#version
  }

  /** Changes up to this version are no longer known one by one. */
  get compactedVersion(): number {
    return this.#compacted
  }

  get(key: StoreKey): StoredObject | undefined {
    return this.#view().get(key)
  }

  count(scope: ListScope): number {
    return this.#view().count(scope)
  }

  /** Objects in the order of namespace and name. Throws CompactedError when the version asked for is too old. */
  list(page: ListPage): readonly StoredObject[] {
    const { resource, namespace, version = this.#version, after, limit = -1, containing } = page
    if (version < this.#compacted) throw new CompactedError(version, this.#compacted)
    const rows = this.#listRows({ resource, namespace, version, after, limit, containing })
    return rows.map((row) => this.#codec.toStored(row))
  }

  #listRows(page: ListPage & { readonly version: number; readonly limit: number }): readonly VersionRow[] {
    const { resource, namespace, version, limit } = page
    const after = page.after ?? { namespace: '', name: '' }
    if (version < this.#version) {
      const bounds = [resource, namespace ?? null, after.namespace, after.name] as const
      return this.#statements.listAt.all(...bounds, version, limit)
    }
    const containing = this.#searchable(resource, page.containing)
    return namespace === undefined
      ? this.#statements.list.all(resource, after.namespace, after.name, containing, limit)
      : this.#statements.listOf.all(resource, namespace, after.name, containing, limit)
  }

  /** Sealed text cannot be searched. */
  #searchable(resource: string, containing: string | undefined): string | null {
    return this.#codec.isSealed(resource) ? null : (containing ?? null)
  }

  /**
   * The first changes of a resource after a version; of those to objects that never had a word in their text only some. Throws CompactedError when
   * some of them are forgotten.
   */
  eventsAfter(resource: string, version: number, limit: number, containing?: string): readonly StoreEvent[] {
    if (version < this.#compacted) throw new CompactedError(version, this.#compacted)
    const recent = this.#recentOf(resource).after(version, limit)
    if (recent !== undefined) return recent
    const rows = this.#statements.changes.all(resource, version, this.#searchable(resource, containing), limit)
    return rows.map((row) => this.#toEvent(row))
  }

  /** Calls back after each change of a resource, until the result is called. */
  onChange(resource: string, wake: () => void): () => void {
    const watchers = this.#watchers.getOrInsertComputed(resource, () => new Set())
    watchers.add(wake)
    return () => void watchers.delete(wake)
  }

  /** Runs an operation; resolves with its result once its changes are on the disk. What it throws undoes its changes. */
  write<T>(operation: (transaction: StoreTransaction) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Error('Cannot write: the store is closed'))
      let result: T
      this.#queue.push({
        run: (transaction) => {
          result = operation(transaction)
        },
        settle: (failure) => (failure === undefined ? resolve(result) : reject(failure)),
      })
      if (this.#queue.length === 1) setImmediate(() => this.#commit())
    })
  }

  /** Copies everything to the place from which a lost database is restored; clients read and write meanwhile. */
  async backUp(): Promise<void> {
    // One at a time: they write the same file.
    const copied = this.#lastBackup.then(async () => {
      if (this.#isClosed) throw new Error('Cannot back up: the store is closed')
      await backUpDatabase(this.#database, this.#backupPath)
    })
    this.#lastBackup = copied.catch(() => undefined)
    await copied
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return
    while (this.#queue.length > 0) this.#commit()
    this.#isClosed = true
    this.#database.close()
  }

  #view(): DatabaseTransaction {
    return new DatabaseTransaction(
      { statements: this.#statements, codec: this.#codec, maxBytes: this.#limits.maxBytes },
      this.#version,
    )
  }

  #commit(): void {
    const batch = this.#queue.slice(0, MAX_BATCH)
    this.#queue = this.#queue.slice(MAX_BATCH)
    if (batch.length === 0) return
    if (this.#queue.length > 0) setImmediate(() => this.#commit())
    const transaction = this.#view()
    const failures = new Map<Operation, unknown>()
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const operation of batch) this.#runOperation(operation, transaction, failures)
      if (transaction.version > this.#version) this.#statements.setInfo.run('version', transaction.version)
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      const failure = new Error('Cannot write to the database', { cause: error })
      for (const operation of batch) operation.settle(failure)
      return
    }
    this.#version = transaction.version
    this.#publish(transaction.events)
    for (const operation of batch) operation.settle(failures.get(operation))
    this.#compact()
  }

  #runOperation(operation: Operation, transaction: DatabaseTransaction, failures: Map<Operation, unknown>): void {
    const mark = { version: transaction.version, events: transaction.events.length }
    this.#database.exec('SAVEPOINT operation')
    try {
      operation.run(transaction)
    } catch (error) {
      failures.set(operation, error)
      this.#database.exec('ROLLBACK TO operation')
      transaction.rollBackTo(mark)
    }
    this.#database.exec('RELEASE operation')
  }

  #publish(events: readonly StoreEvent[]): void {
    const woken = new Set<string>()
    for (const event of events) {
      const { resource } = event.key
      this.#recentOf(resource, event.version - 1).add(event, this.#watchers.get(resource)?.size ?? 0)
      if (event.previous !== undefined) this.#countReplaced(event.replacedLength ?? 0)
      woken.add(resource)
    }
    for (const resource of woken) for (const wake of this.#watchers.get(resource) ?? []) wake()
  }

  #recentOf(resource: string, since = this.#version): RecentEvents {
    return this.#recent.getOrInsertComputed(resource, () => new RecentEvents(since))
  }

  #countReplaced(bytes: number): void {
    this.#replaced = { versions: this.#replaced.versions + 1, bytes: this.#replaced.bytes + bytes }
  }

  /** Forgets the oldest part of the history when it has grown beyond its limits. */
  #compact(): void {
    const { historyVersions, historyBytes } = this.#limits
    if (this.#replaced.versions <= historyVersions && this.#replaced.bytes <= historyBytes) return
    let { versions, bytes } = this.#replaced
    let upTo = this.#compacted
    for (const row of this.#statements.history.iterate()) {
      if (versions <= historyVersions * KEPT_SHARE && bytes <= historyBytes * KEPT_SHARE) break
      versions--
      bytes -= row.bytes
      upTo = row.until
    }
    try {
      this.#forget(upTo)
    } catch (error) {
      this.#log.error('cannot compact the history of the API', { error })
      return
    }
    this.#compacted = upTo
    this.#replaced = { versions: Math.max(0, versions), bytes: Math.max(0, bytes) }
  }

  #forget(upTo: number): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      this.#statements.forget.run(upTo)
      this.#statements.setInfo.run('compacted', upTo)
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
    this.#database.exec(`PRAGMA incremental_vacuum(${PAGES_FREED_AT_ONCE})`)
  }

  #toEvent(row: ChangeRow): StoreEvent {
    const key = { resource: row.resource, namespace: row.namespace, name: row.name }
    const previous =
      row.previousVersion === null
        ? undefined
        : this.#codec.toStored({ ...row, version: row.previousVersion, value: row.previousValue }).object
    if (row.value === null && previous !== undefined) {
      const object = atVersion(previous, row.version)
      return { type: 'DELETED', key, version: row.version, object, text: formatExactJson(object), previous }
    }
    const { object, text } = this.#codec.toStored(row)
    return { type: previous === undefined ? 'ADDED' : 'MODIFIED', key, version: row.version, object, text, previous }
  }

  #info(name: string): number {
    return this.#statements.getInfo.get(name)?.value ?? 0
  }
}
