import type { JournalFiles } from '../../src/pods/sync/report/exit-journal.ts'

/** The journal of finished pods in memory: name to text. */
export class FakeJournalFiles implements JournalFiles {
  readonly files = new Map<string, string>()
  /** How often anything was written. */
  writes = 0
  /** What every call fails with. */
  failure: Error | undefined
  /** How many calls failed. */
  failed = 0

  async names(): Promise<readonly string[]> {
    this.#check()
    return [...this.files.keys()]
  }

  async read(name: string): Promise<string | undefined> {
    this.#check()
    return this.files.get(name)
  }

  async write(name: string, text: string): Promise<void> {
    this.#check()
    this.writes += 1
    this.files.set(name, text)
  }

  async remove(name: string): Promise<void> {
    this.#check()
    this.files.delete(name)
  }

  async setAside(name: string): Promise<void> {
    this.files.set(`${name}.broken`, this.files.get(name) ?? '')
    this.files.delete(name)
  }

  #check(): void {
    if (this.failure === undefined) return
    this.failed += 1
    throw this.failure
  }
}
