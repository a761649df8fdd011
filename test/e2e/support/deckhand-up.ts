import { readFile } from 'node:fs/promises'
import process from 'node:process'
import type { StartedProcess } from '../../../src/system/processes/start-process.ts'
import { childPid } from '../lab/lab-namespaces.ts'
import type { Lab } from '../lab/start-lab.ts'
import type { NodeProcess } from './node-process.ts'
import { waitFor } from './wait-for.ts'

const PATIENCE_MS = 60_000

/** "deckhand up" in a lab, on the lab's runtime. */
export class DeckhandUp implements NodeProcess {
  readonly #lab: Lab
  readonly #argv: readonly string[]
  #up: StartedProcess | undefined
  #ups = 0

  /** `argv` is the whole command line. */
  constructor(lab: Lab, argv: readonly string[]) {
    this.#lab = lab
    this.#argv = argv
  }

  async start(): Promise<void> {
    this.#ups += 1
    const started = await this.#lab.startInside(this.#argv, this.#log)
    this.#up = started
    let ended = false
    void started.exited.then(() => (ended = true))
    await waitFor('the node to be up', async () => ended || (await this.output()).includes('stop all'), {
      ms: PATIENCE_MS,
      context: () => this.output(),
    })
    if (ended) throw new Error(`Cannot start the node: ${await this.output()}`)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.#up === undefined) return
    process.kill((await childPid(this.#up.pid)) ?? 0, signal)
    await this.#up.exited
    this.#up = undefined
  }

  async output(): Promise<string> {
    return await readFile(this.#log, 'utf8').catch(() => '')
  }

  async leave(): Promise<void> {
    // The lab takes it along.
  }

  get #log(): string {
    return `${this.#lab.folder}/up-${this.#ups}.log`
  }
}
