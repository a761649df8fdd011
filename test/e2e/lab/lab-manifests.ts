import { rename, rm, writeFile } from 'node:fs/promises'

/** The folder of static pods of a lab. */
export class LabManifests {
  readonly folder: string
  readonly #outside: string

  constructor(folder: string, outside: string) {
    this.folder = folder
    this.#outside = outside
  }

  /** Puts a pod (or a text, for what is not one) in place at once; gives the time just before, in ms since the epoch. */
  async write(name: string, pod: object | string): Promise<number> {
    // Written elsewhere and moved in, so that an agent never reads half a file.
    const draft = `${this.#outside}/${name}.draft`
    await writeFile(draft, typeof pod === 'string' ? pod : JSON.stringify(pod))
    const at = performance.timeOrigin + performance.now()
    await rename(draft, this.#path(name))
    return at
  }

  /** Gives the time just before, in ms since the epoch. */
  async remove(name: string): Promise<number> {
    const at = performance.timeOrigin + performance.now()
    await rm(this.#path(name))
    return at
  }

  #path(name: string): string {
    return `${this.folder}/${/\.(json|yaml|yml)$/.test(name) ? name : `${name}.json`}`
  }
}
