import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import process from 'node:process'
import type { AgentOptions } from '../lab/lab-agent.ts'

const program = fileURLToPath(new URL('kubelet-with-objects.ts', import.meta.url))

/** Objects that an agent reads as if from an API: one file each. */
export class TestObjects {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async create(folder: string): Promise<TestObjects> {
    await mkdir(folder, { recursive: true })
    return new TestObjects(folder)
  }

  /** Starts our kubelet so that it reads them. */
  get agent(): AgentOptions {
    return { binary: program, through: [process.execPath], environment: { OBJECTS: this.#folder } }
  }

  async write(kind: string, name: string, fields: Readonly<Record<string, unknown>>, metadata = {}): Promise<void> {
    const file = this.#path(kind, name)
    const namespace = kind === 'PersistentVolume' ? {} : { namespace: 'default' }
    const object = { apiVersion: 'v1', kind, metadata: { name, ...namespace, ...metadata }, ...fields }
    // Whole or not at all: the agent watches.
    await writeFile(`${file}.new`, JSON.stringify(object))
    await rename(`${file}.new`, file)
  }

  async remove(kind: string, name: string): Promise<void> {
    await rm(this.#path(kind, name))
  }

  #path(kind: string, name: string): string {
    return join(this.#folder, `${kind}-${name}.json`.toLowerCase())
  }
}
