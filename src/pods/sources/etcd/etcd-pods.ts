import type { Pod } from '../../../model/pod/pod.ts'
import type { DecodedManifest } from '../../../model/schema/decode-pods.ts'
import { formatManifestProblem, ManifestError } from '../../../model/schema/manifest-error.ts'
import { errorText } from '../../../base/telemetry/error-text.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { EtcdChange } from '../../../protocols/etcd/etcd-connection.ts'
import type { createLastGoodManifests } from '../../../system/directories/last-good-manifests.ts'
import { KeptValues } from './kept-values.ts'
import type { KeptManifest } from './kept-values.ts'
import { splitEtcdValue } from './split-etcd-value.ts'
import type { EtcdManifest } from './split-etcd-value.ts'

export interface EtcdPodsDeps {
  readonly isOurs: (key: string) => boolean
  readonly decode: (bytes: Uint8Array, key: string) => DecodedManifest
  /** What was good when it was last read, by key: it counts over the end of the agent. */
  readonly lastGood: ReturnType<typeof createLastGoodManifests>
  readonly logger: Logger
  /** A value, or a pod of it, cannot be used. */
  readonly onRefused: () => void
}

/** The good manifests of a key, by the names that distinguish them, with their pods. */
type GoodManifests = ReadonlyMap<string, { readonly bytes: Uint8Array; readonly pods: readonly Pod[] }>

const SHOWN_PROBLEMS = 10

/** The pods of a range of keys. What cannot be used stays as it last was, and is reported with its key. */
export class EtcdPods {
  readonly #deps: EtcdPodsDeps
  readonly #kept: KeptValues
  #keys: ReadonlyMap<string, GoodManifests> = new Map()

  constructor(deps: EtcdPodsDeps) {
    this.#deps = deps
    this.#kept = new KeptValues(deps.lastGood, deps.logger)
  }

  /** All of them, by their keys. */
  get pods(): readonly Pod[] {
    const keys = [...this.#keys.keys()].toSorted()
    return keys.flatMap((key) => [...(this.#keys.get(key)?.values() ?? [])].flatMap(({ pods }) => pods))
  }

  /** Takes what an earlier agent had; true if that is all of it, so that the pods can stand in for those of a store that does not answer. */
  async restore(): Promise<boolean> {
    const { values, isComplete } = await this.#kept.read()
    const ours = values.filter(({ key }) => this.#deps.isOurs(key))
    const recalled = ours.map(({ key, manifests }) => [key, this.#recall(key, manifests)] as const)
    this.#keys = new Map(recalled.map(([key, good]) => [key, good ?? new Map()]))
    return isComplete && recalled.every(([, good]) => good !== undefined)
  }

  /** Takes all that the range has now: a key that is not there has no pods. */
  async replace(all: readonly EtcdChange[]): Promise<void> {
    const before = this.#keys
    const keys = new Map<string, GoodManifests>()
    for (const change of all.filter(({ key }) => this.#deps.isOurs(key)))
      keys.set(change.key, await this.#read(change, before.get(change.key)))
    this.#keys = keys
    await this.#kept.finish([...keys.keys()])
  }

  /** Takes changes in their order; true if there was one of ours. */
  async change(changes: readonly EtcdChange[]): Promise<boolean> {
    const ours = changes.filter(({ key }) => this.#deps.isOurs(key))
    const keys = new Map(this.#keys)
    for (const change of ours) {
      if (change.value === undefined) keys.delete(change.key)
      else keys.set(change.key, await this.#read(change, keys.get(change.key)))
    }
    this.#keys = keys
    if (ours.length > 0) await this.#kept.finish([...keys.keys()])
    return ours.length > 0
  }

  async #read({ key, value = new Uint8Array() }: EtcdChange, known: GoodManifests | undefined): Promise<GoodManifests> {
    const all = this.#try({ key }, () => splitEtcdValue(value))
    const manifests = all && this.#dropDuplicates(all, key)
    const decoded = (manifests ?? []).map((manifest) => [manifest, this.#decode(manifest, key)] as const)
    const isGood = manifests !== undefined && decoded.every(([, pods]) => pods !== undefined)
    const before = isGood ? new Map() : (known ?? new Map())
    if (manifests === undefined) return before
    const good: GoodManifests = new Map(
      decoded.flatMap(([{ name, bytes }, pods]) => {
        const manifest = pods === undefined ? before.get(name) : { bytes, pods }
        return manifest === undefined ? [] : [[name, manifest] as const]
      }),
    )
    await this.#kept.write(
      key,
      [...good].map(([name, { bytes }]) => ({ name, bytes })),
    )
    return good
  }

  /** Of several pods with one name the first counts. */
  #dropDuplicates(manifests: readonly EtcdManifest[], key: string): readonly EtcdManifest[] {
    const names = new Set<string>()
    return manifests.filter(({ name }) => {
      const isFirst = !names.has(name)
      names.add(name)
      if (isFirst) return true
      this.#deps.logger.warn('cannot use a pod of a value of etcd', { key, item: name, reason: 'duplicate pod name' })
      this.#deps.onRefused()
      return false
    })
  }

  #decode({ name, bytes }: EtcdManifest, key: string): readonly Pod[] | undefined {
    return this.#try({ key, ...(name === '' ? {} : { item: name }) }, () => {
      const { pods, warnings } = this.#deps.decode(bytes, key)
      for (const { path, rule } of warnings)
        this.#deps.logger.warn('manifest has a field that is not used', { key, field: path, reason: rule })
      return pods
    })
  }

  /** What an earlier agent had of a key; undefined: it is of no use to this one. */
  #recall(key: string, manifests: readonly KeptManifest[]): GoodManifests | undefined {
    try {
      return new Map(
        manifests.map(({ name, bytes }) => [name, { bytes, pods: this.#deps.decode(bytes, key).pods }] as const),
      )
    } catch (error) {
      this.#deps.logger.warn('cannot use what was last good of a value of etcd', { key, error })
      return undefined
    }
  }

  #try<T>(where: { readonly key: string; readonly item?: string }, read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      const { logger, onRefused } = this.#deps
      // Whatever goes wrong with one value is no reason to read none of the others.
      const reason =
        error instanceof ManifestError
          ? error.problems.slice(0, SHOWN_PROBLEMS).map(formatManifestProblem)
          : errorText(error)
      logger.warn('cannot use a value of etcd, its last good pods stay', { ...where, reason })
      onRefused()
      return undefined
    }
  }
}
