import type { Logger } from '../../../base/telemetry/logger.ts'
import type { createLastGoodManifests } from '../../../system/directories/last-good-manifests.ts'

/** A manifest of a value, under the name that distinguishes it from the others of that value. */
export interface KeptManifest {
  readonly name: string
  readonly bytes: Uint8Array
}

/** A key and the last good manifests of its value. */
interface KeptValue {
  readonly key: string
  readonly manifests: readonly KeptManifest[]
}

// No key of etcd is empty: the name is free for what is about all of them.
const MARK = ''

/** The values of etcd that were good when last read, on disk: they count over the end of the agent. */
export class KeptValues {
  readonly #lastGood: ReturnType<typeof createLastGoodManifests>
  readonly #logger: Logger
  /** The keys whose newest value is not on disk. */
  readonly #missing = new Set<string>()

  constructor(lastGood: ReturnType<typeof createLastGoodManifests>, logger: Logger) {
    this.#lastGood = lastGood
    this.#logger = logger
  }

  /** What an earlier agent kept, and whether that was all that it had. */
  async read(): Promise<{ readonly values: readonly KeptValue[]; readonly isComplete: boolean }> {
    const isMarked = (await this.#lastGood.read(MARK)) !== undefined
    const files = await this.#lastGood.readAll()
    const values = files.map((bytes) => this.#decode(bytes))
    return {
      values: values.filter((value) => value !== undefined).filter(({ key }) => key !== MARK),
      isComplete: isMarked && !values.includes(undefined),
    }
  }

  async write(key: string, manifests: readonly KeptManifest[]): Promise<void> {
    this.#missing.add(key)
    if (await this.#try(() => this.#lastGood.write(key, encode({ key, manifests })))) this.#missing.delete(key)
  }

  /** All values of these keys are written: forgets all others. A set that could not be written as a whole is not marked as one. */
  async finish(keys: readonly string[]): Promise<void> {
    const present = new Set(keys)
    for (const key of this.#missing) if (!present.has(key)) this.#missing.delete(key)
    const isComplete = this.#missing.size === 0
    await this.#try(async () => {
      if (!isComplete) await this.#lastGood.remove(MARK)
      await this.#lastGood.retain([...keys, MARK])
      if (isComplete) await this.#lastGood.write(MARK, encode({ key: MARK, manifests: [] }))
    })
  }

  #decode(bytes: Uint8Array | undefined): KeptValue | undefined {
    try {
      return bytes === undefined ? undefined : decode(bytes)
    } catch (error) {
      this.#logger.warn('cannot use what was last good of a value of etcd', { error })
      return undefined
    }
  }

  /** A disk that cannot be written must not keep pods from running. */
  async #try(write: () => Promise<void>): Promise<boolean> {
    try {
      await write()
      return true
    } catch (error) {
      this.#logger.warn('cannot keep the last good values of etcd', { error })
      return false
    }
  }
}

function encode({ key, manifests }: KeptValue): Uint8Array {
  const texts = manifests.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])
  return Buffer.from(JSON.stringify({ key, manifests: texts }))
}

function decode(bytes: Uint8Array): KeptValue {
  const { key, manifests } = JSON.parse(Buffer.from(bytes).toString()) as {
    readonly key: string
    readonly manifests: readonly (readonly [string, string])[]
  }
  return { key, manifests: manifests.map(([name, text]) => ({ name, bytes: Buffer.from(text) })) }
}
