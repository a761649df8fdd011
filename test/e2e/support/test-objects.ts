import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentOptions } from '../lab/lab-agent.ts'
import { kubeletWithObjects } from './built-agents.ts'

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
    return kubeletWithObjects(this.#folder)
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
