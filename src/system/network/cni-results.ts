import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../base/document/is-record.ts'
import { watchDirectory } from '../files/watch-directory.ts'

/** Where runtimes keep what CNI plugins answered, unless they are configured otherwise. */
export const CNI_RESULTS = '/var/lib/cni/results'

interface CniResult {
  readonly podUid: string
  readonly addresses: readonly string[]
  readonly writtenAt: number
}

/**
 * Which addresses pods were given in one network, as the CNI library of the runtime notes it before a container starts. It is known here before
 * the API knows it. Of two pods with one address the later note counts: that of a pod that ended with its machine stays.
 */
export class CniResults {
  readonly #folder: string
  readonly #prefix: string
  readonly #known = new Map<string, CniResult>()

  constructor(network: string, folder = CNI_RESULTS) {
    this.#folder = folder
    this.#prefix = `${network}-`
  }

  /** Addresses by the uid of their pod. */
  get addresses(): ReadonlyMap<string, readonly string[]> {
    const owners = new Map<string, CniResult>()
    for (const result of this.#known.values()) {
      for (const address of result.addresses) {
        const other = owners.get(address)
        if (other === undefined || other.writtenAt < result.writtenAt) owners.set(address, result)
      }
    }
    const byPod = new Map<string, string[]>()
    for (const [address, { podUid }] of owners) byPod.set(podUid, [...(byPod.get(podUid) ?? []), address])
    return byPod
  }

  /** Follows them until the signal aborts; calls back when a pod got an address. */
  async follow(onChange: () => void, signal: AbortSignal): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const failed = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => failed.reject(signal.reason), { once: true })
    signal.throwIfAborted()
    const look = async (name: string) => {
      if (name.startsWith(this.#prefix) && (await this.#read(name))) onChange()
    }
    using _ = watchDirectory(this.#folder, {
      onChange: (name) => void look(name ?? '').catch(failed.reject),
      onFailure: failed.reject,
    })
    for (const name of await readdir(this.#folder)) await look(name)
    await failed.promise
  }

  /** Returns whether there is something new in it. */
  async #read(name: string): Promise<boolean> {
    const path = join(this.#folder, name)
    try {
      const { mtimeMs } = await stat(path)
      const result = parseCniResult(await readFile(path, 'utf8'), mtimeMs)
      if (result === undefined) return false
      this.#known.set(name, result)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#known.delete(name)
      return false
    }
  }
}

/** Undefined while it is being written, and for what is no pod's. */
export function parseCniResult(text: string, writtenAt: number): CniResult | undefined {
  const note = parseJson(text)
  if (!isRecord(note) || !Array.isArray(note['cniArgs']) || !isRecord(note['result'])) return undefined
  const uid: unknown = note['cniArgs'].find((pair) => Array.isArray(pair) && pair[0] === 'K8S_POD_UID')?.[1]
  const { ips } = note['result']
  if (typeof uid !== 'string' || !Array.isArray(ips)) return undefined
  const addresses = ips.flatMap((ip) => {
    const text: unknown = isRecord(ip) ? ip['address'] : undefined
    return typeof text === 'string' ? (text.split('/')[0] ?? []) : []
  })
  return { podUid: uid, addresses, writtenAt }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
