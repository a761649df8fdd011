import type { Pod } from '../../../model/pod/pod.ts'
import type { DecodedManifest } from '../../../model/schema/decode-pods.ts'
import { ManifestError } from '../../../model/schema/manifest-error.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { EtcdChange, StoreTime } from '../../../protocols/etcd/etcd-connection.ts'
import type { ManifestCopies } from '../../../system/directories/last-good-manifests.ts'
import type { RefusedManifests } from '../refused-manifests.ts'
import { KeptValues } from './kept-values.ts'
import type { KeptManifest, KeptStore } from './kept-values.ts'
import { splitEtcdValue } from './split-etcd-value.ts'
import type { EtcdManifest } from './split-etcd-value.ts'
import { ValueProblems } from './value-problems.ts'

export interface EtcdPodsDeps {
  readonly isOurs: (key: string) => boolean
  readonly decode: (bytes: Uint8Array, key: string) => DecodedManifest
  /** What was good when it was last read, by key: it counts over the end of the agent. */
  readonly lastGood: ManifestCopies
  readonly logger: Logger
  /** What cannot be used at the moment, for those who ask what is wrong. */
  readonly refused: Pick<RefusedManifests, 'set' | 'delete'>
  /** A value, or a pod of it, cannot be used. */
  readonly onRefused: () => void
}

/** The good manifests of a key, by the names that distinguish them, with their pods. */
type GoodManifests = ReadonlyMap<string, { readonly bytes: Uint8Array; readonly pods: readonly Pod[] }>

interface ValueReport {
  readonly problems: ValueProblems
  /** Fields that are not used. */
  readonly warnings: ValueProblems
  /** Pods of an earlier version go on. */
  readonly hasLastGood: boolean
}

const LAST_GOOD = ', its last good pods stay'

/** The pods of a range of keys. What cannot be used stays as it last was, and is reported with its key. */
export class EtcdPods {
  readonly #deps: EtcdPodsDeps
  readonly #kept: KeptValues
  #keys: ReadonlyMap<string, GoodManifests> = new Map()
  /** The store that the keys are of; undefined: not known. */
  #store: KeptStore | undefined
  /** The store that there is now has nothing for us, and is not the one that the keys are of: they stay. */
  #isHeld = false

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
    const { values, store } = await this.#kept.read()
    const ours = values.filter(({ key }) => this.#deps.isOurs(key))
    const recalled = ours.map(({ key, manifests }) => [key, this.#recall(key, manifests)] as const)
    this.#keys = new Map(recalled.map(([key, good]) => [key, good ?? new Map()]))
    this.#store = store
    return store !== undefined && recalled.every(([, good]) => good !== undefined)
  }

  /** Takes all that the range has now: a key that is not there has no pods, unless the whole store has lost what it had. */
  async replace(all: readonly EtcdChange[], now: StoreTime): Promise<void> {
    const ours = all.filter(({ key }) => this.#deps.isOurs(key))
    if (ours.length === 0 && this.pods.length > 0 && this.#store !== undefined && hasLost(this.#store, now))
      return await this.#hold(this.#store, now)
    await this.#take(ours, new Map(), now)
  }

  /** Takes changes in their order; true if there was one of ours. */
  async change(changes: readonly EtcdChange[], now: StoreTime): Promise<boolean> {
    const ours = changes.filter(({ key }) => this.#deps.isOurs(key))
    // With its first key for us, a store that had lost them all counts again.
    if (this.#isHeld && !ours.some(({ value }) => value !== undefined)) return false
    if (ours.length > 0) await this.#take(ours, this.#isHeld ? new Map() : this.#keys, now)
    else this.#store = { ...now, hasGoneBack: false }
    return ours.length > 0
  }

  async #take(ours: readonly EtcdChange[], before: ReadonlyMap<string, GoodManifests>, now: StoreTime): Promise<void> {
    const keys = new Map(before)
    const known = new Map(this.#keys)
    for (const change of ours) {
      const { key, value } = change
      const good = value === undefined ? undefined : await this.#read(change, known.get(key))
      for (const map of [keys, known])
        if (good === undefined) map.delete(key)
        else map.set(key, good)
    }
    for (const key of this.#keys.keys()) if (!keys.has(key)) this.#deps.refused.delete(refusedName(key))
    this.#keys = keys
    this.#isHeld = false
    this.#store = { ...now, hasGoneBack: false }
    await this.#kept.finish([...keys.keys()], this.#store)
  }

  /** An empty store in the place of the one that had the pods is more often an accident than meant to end them all. */
  async #hold(before: KeptStore, now: StoreTime): Promise<void> {
    this.#store = { ...before, hasGoneBack: before.hasGoneBack || before.clusterId === now.clusterId }
    await this.#kept.finish([...this.#keys.keys()], this.#store)
    if (this.#isHeld) return
    this.#isHeld = true
    this.#deps.logger.error(
      'etcd has lost its data or is another one, and has no pods for this node: the last good ones go on',
      {
        pods: this.pods.length,
        seen: formatTime(before),
        found: formatTime(now),
        advice: 'put the keys back in one transaction; to end the pods, put an empty PodList',
      },
    )
  }

  async #read(
    { key, value = new Uint8Array() }: EtcdChange,
    before: GoodManifests = new Map(),
  ): Promise<GoodManifests> {
    const problems = new ValueProblems()
    const warnings = new ValueProblems()
    const manifests = problems.try('', () => splitEtcdValue(value))
    const good = new Map(manifests === undefined ? before : [])
    let hasLastGood = good.values().some(({ pods }) => pods.length > 0)
    for (const { name, item, bytes } of dropDuplicates(manifests ?? [], problems)) {
      const decoded = problems.try(item, () => this.#deps.decode(bytes, key))
      if (decoded !== undefined && decoded.warnings.length > 0) warnings.add(item, new ManifestError(decoded.warnings))
      const manifest = decoded === undefined ? before.get(name) : { bytes, pods: decoded.pods }
      if (manifest !== undefined) good.set(name, manifest)
      if (decoded === undefined && manifest !== undefined) hasLastGood = true
    }
    this.#report(key, { problems, warnings, hasLastGood })
    await this.#kept.write(
      key,
      [...good].map(([name, { bytes }]) => ({ name, bytes })),
    )
    return good
  }

  #report(key: string, { problems, warnings, hasLastGood }: ValueReport): void {
    const { logger, refused, onRefused } = this.#deps
    const file = refusedName(key)
    refused.delete(file)
    if (problems.count > 0) refused.set({ file, line: problems.line, reason: problems.toText(), hasLastGood })
    if (warnings.count > 0) logger.warn('manifest has a field that is not used', { key, ...warnings.toFields() })
    if (problems.count === 0) return
    const message = problems.isWhole ? 'cannot use a value of etcd' : 'cannot use some pods of a value of etcd'
    logger.warn(`${message}${hasLastGood ? LAST_GOOD : ''}`, { key, ...problems.toFields() })
    onRefused()
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
}

/** Of several pods with one name the first counts. */
function dropDuplicates(manifests: readonly EtcdManifest[], problems: ValueProblems): readonly EtcdManifest[] {
  const names = new Set<string>()
  return manifests.filter(({ name, item }) => {
    const isFirst = !names.has(name)
    names.add(name)
    if (!isFirst) problems.add(item, 'duplicate pod name')
    return isFirst
  })
}

/** How a key is called among the files that are refused. */
function refusedName(key: string): string {
  return `etcd ${key}`
}

function hasLost({ clusterId, revision, hasGoneBack }: KeptStore, now: StoreTime): boolean {
  return now.clusterId !== clusterId || now.revision < revision || hasGoneBack
}

function formatTime({ clusterId, revision }: StoreTime): string {
  return `revision ${revision} of cluster ${clusterId.toString(16)}`
}
