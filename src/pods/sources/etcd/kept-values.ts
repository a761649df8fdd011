import type { Logger } from '../../../base/telemetry/logger.ts'
import type { StoreTime } from '../../../protocols/etcd/etcd-connection.ts'
import type { ManifestCopies } from '../../../system/directories/last-good-manifests.ts'

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

/** The store that the values are of. */
export interface KeptStore extends StoreTime {
  /** Since then it was seen at an earlier revision, without a key of ours. */
  readonly hasGoneBack: boolean
}

interface Kept {
  readonly values: readonly KeptValue[]
  /** Undefined: these are not all the values that there were. */
  readonly store: KeptStore | undefined
}

// No key of etcd is empty: the name is free for what is about all of them.
const MARK = ''

/** The values of etcd that were good when last read, on disk: they count over the end of the agent. */
export class KeptValues {
  readonly #lastGood: ManifestCopies
  readonly #logger: Logger
  /** The keys whose newest value is not on disk. */
  readonly #missing = new Set<string>()

  constructor(lastGood: ManifestCopies, logger: Logger) {
    this.#lastGood = lastGood
    this.#logger = logger
  }

  /** What an earlier agent kept. */
  async read(): Promise<Kept> {
    const mark = await this.#lastGood.read(MARK)
    const store = mark && this.#try(() => decodeStore(mark))
    const files = await this.#lastGood.readAll()
    const values = files.map((bytes) => bytes && this.#try(() => decodeValue(bytes)))
    return {
      values: values.filter((value) => value !== undefined).filter(({ key }) => key !== MARK),
      store: values.includes(undefined) ? undefined : store,
    }
  }

  async write(key: string, manifests: readonly KeptManifest[]): Promise<void> {
    this.#missing.add(key)
    if (await this.#keep(() => this.#lastGood.write(key, encodeValue({ key, manifests })))) this.#missing.delete(key)
  }

  /** All values of these keys are written: forgets all others. A set that could not be written as a whole is not marked as one. */
  async finish(keys: readonly string[], store: KeptStore): Promise<void> {
    const present = new Set(keys)
    for (const key of this.#missing) if (!present.has(key)) this.#missing.delete(key)
    const isComplete = this.#missing.size === 0
    await this.#keep(async () => {
      if (!isComplete) await this.#lastGood.remove(MARK)
      await this.#lastGood.retain([...keys, MARK])
      if (isComplete) await this.#lastGood.write(MARK, encodeStore(store))
    })
  }

  #try<T>(decode: () => T): T | undefined {
    try {
      return decode()
    } catch (error) {
      this.#logger.warn('cannot use what was last good of a value of etcd', { error })
      return undefined
    }
  }

  /** A disk that cannot be written must not keep pods from running. */
  async #keep(write: () => Promise<void>): Promise<boolean> {
    try {
      await write()
      return true
    } catch (error) {
      this.#logger.warn('cannot keep the last good values of etcd', { error })
      return false
    }
  }
}

function encodeValue({ key, manifests }: KeptValue): Uint8Array {
  const texts = manifests.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])
  return Buffer.from(JSON.stringify({ key, manifests: texts }))
}

function decodeValue(bytes: Uint8Array): KeptValue {
  const { key, manifests = [] } = JSON.parse(Buffer.from(bytes).toString()) as {
    readonly key: string
    readonly manifests?: readonly (readonly [string, string])[]
  }
  if (typeof key !== 'string') throw new Error('Cannot use a copy of a value of etcd: it does not say of which key')
  return { key, manifests: manifests.map(([name, text]) => ({ name, bytes: Buffer.from(text) })) }
}

function encodeStore({ clusterId, revision, hasGoneBack }: KeptStore): Uint8Array {
  const numbers = { clusterId: String(clusterId), revision: String(revision) }
  return Buffer.from(JSON.stringify({ key: MARK, ...numbers, hasGoneBack }))
}

function decodeStore(bytes: Uint8Array): KeptStore {
  const { clusterId, revision, hasGoneBack } = JSON.parse(Buffer.from(bytes).toString()) as {
    readonly clusterId: string
    readonly revision: string
    readonly hasGoneBack: boolean
  }
  return { clusterId: BigInt(clusterId), revision: BigInt(revision), hasGoneBack }
}
