import { FreshReads } from '../../../base/async/fresh-reads.ts'
import { throwIfTransient } from '../../../base/async/transient-errors.ts'

/** One file on the disk. */
export interface StateFile {
  readonly path: string
  /** Undefined when there is no such file. */
  read(): Promise<string | undefined>
  /** The text is on the disk when this resolves; after a crash the file has the old or the new one. */
  write(text: string): Promise<void>
  /** Gives the file another name, which it returns. */
  setAside(): Promise<string>
}

/**
 * Sets a broken file aside, for the log: where it was and is now. A file that cannot be moved is no reason not to start. What it fails
 * with, if not with its content, is thrown again when it passes: then the file is as good as it was.
 */
export async function setAsideBroken(
  file: Pick<StateFile, 'path' | 'setAside'>,
  error?: unknown,
): Promise<{ readonly path: string; readonly setAside: string | undefined }> {
  throwIfTransient(error)
  return { path: file.path, setAside: await file.setAside().catch(() => undefined) }
}

interface StateRecordDeps {
  readonly write: (text: string) => Promise<void>
  /** What a later agent has to know, now. */
  readonly format: () => string
}

/** Keeps a file up to date with what is known in memory; a text that is on the disk already is not written again. */
export class StateRecord {
  readonly #deps: StateRecordDeps
  readonly #writes = new FreshReads<'state', void>(() => this.#write())
  #written: string

  constructor(deps: StateRecordDeps, written = '') {
    this.#deps = deps
    this.#written = written
  }

  /** Resolves when all that is true now is on the disk. */
  async save(): Promise<void> {
    await this.#writes.read('state')
  }

  async #write(): Promise<void> {
    const text = this.#deps.format()
    if (text === this.#written) return
    await this.#deps.write(text)
    this.#written = text
  }
}
