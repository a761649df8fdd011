import type { StateFile } from '../../src/system/files/state/state-file.ts'

/** A file that outlives agents; tests read it, break it and make its writes fail. */
export class FakeStateFile implements StateFile {
  readonly path: string
  text: string | undefined
  /** What was set aside, the newest last. */
  readonly aside: string[] = []
  writes = 0
  failure: Error | undefined
  /** Until it is set aside. */
  readFailure: Error | undefined

  constructor(path: string, text?: string) {
    this.path = path
    this.text = text
  }

  async read(): Promise<string | undefined> {
    if (this.readFailure !== undefined) throw this.readFailure
    return this.text
  }

  async write(text: string): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    this.writes += 1
    this.text = text
  }

  async setAside(): Promise<string> {
    this.aside.push(this.text ?? '')
    this.text = undefined
    this.readFailure = undefined
    return `${this.path}.broken`
  }
}
