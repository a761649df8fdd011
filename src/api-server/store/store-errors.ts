/** The versions asked for are no longer in the history: the reader must list again. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError'
  readonly version: number
  readonly oldest: number

  constructor(version: number, oldest: number) {
    super(`Cannot read changes since version ${version}: the history begins at ${oldest}`)
    this.version = version
    this.oldest = oldest
  }
}

/** The file has reached its largest size; only deletions are taken. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError'

  constructor(bytes: number, maxBytes: number) {
    super(`Cannot store the object: the database has ${bytes} bytes, expected at most ${maxBytes}`)
  }
}

/** The database cannot be opened, for a reason that setting it aside would not fix. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
}
