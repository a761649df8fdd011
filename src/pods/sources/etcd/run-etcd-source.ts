import { BackOff } from '../../../base/async/back-off.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { DecodedManifest } from '../../../model/schema/decode-pods.ts'
import { EtcdHistoryError } from '../../../protocols/etcd/etcd-connection.ts'
import type { EtcdConnection, KeyRange, StoreTime } from '../../../protocols/etcd/etcd-connection.ts'
import { EtcdPods } from './etcd-pods.ts'
import type { EtcdPodsDeps } from './etcd-pods.ts'

/** What the etcd source needs. */
export interface EtcdSourceDeps {
  readonly servers: readonly string[]
  /** The key of all pods, or of the folder that they are in. */
  readonly prefix: string
  /** Reads certificates and passwords each time, as they may be other ones by then. */
  readonly connect: (server: string) => Promise<Pick<EtcdConnection, 'list' | 'watch'> & Disposable>
  readonly decode: (bytes: Uint8Array, key: string) => DecodedManifest
  readonly lastGood: EtcdPodsDeps['lastGood']
  readonly refused: EtcdPodsDeps['refused']
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly onRefused: () => void
  /** Takes the complete set, whenever a key changed. */
  readonly emit: (pods: readonly Pod[]) => void
}

const PAUSE = { firstMs: 500, longestMs: 30_000, jitter: { least: 0.5, extra: 0.5 } }

// A store that is there answers sooner, mostly; its pods should not wait much longer for one that is not.
const STAND_IN_MS = 2000

/** Follows the keys of etcd that hold the pods of this node. While it is away, the last good pods stay, also those that an earlier agent had. */
export async function runEtcdSource(deps: EtcdSourceDeps, signal: AbortSignal): Promise<void> {
  const source = new EtcdSource(deps)
  const isComplete = await source.restore()
  await Promise.all([followServers(source, deps, signal), isComplete ? source.standIn(signal) : undefined])
}

async function followServers(source: EtcdSource, deps: EtcdSourceDeps, signal: AbortSignal): Promise<never> {
  const { servers, clock, random, logger } = deps
  const backOff = new BackOff(PAUSE, random)
  // So that the nodes of a cluster do not all ask the same member.
  const first = Math.floor(random() * servers.length)
  for (let turn = first; ; turn += 1) {
    const server = servers[turn % servers.length] ?? ''
    try {
      await source.follow(server, () => backOff.reset(), signal)
    } catch (error) {
      signal.throwIfAborted()
      const retryMs = backOff.next()
      logger.warn('cannot follow the pods in etcd, will try again', { server, retryMs, error })
      await clock.sleep(retryMs, signal)
    }
  }
}

class EtcdSource {
  readonly #deps: EtcdSourceDeps
  readonly #pods: EtcdPods
  readonly #range: KeyRange
  /** The store, and up to where its changes are known; undefined: nothing is. */
  #seen: StoreTime | undefined
  #hasEmitted = false

  constructor(deps: EtcdSourceDeps) {
    const { prefix } = deps
    this.#deps = deps
    const isOurs = (key: string) => key === prefix || key.startsWith(`${prefix}/`)
    this.#pods = new EtcdPods({ ...deps, isOurs })
    // The key itself and what is below it: "0" comes right after "/". What else lies between is left out.
    this.#range = { from: prefix, to: `${prefix}0` }
  }

  /** Takes what an earlier agent had; true if that is all of it. */
  async restore(): Promise<boolean> {
    return await this.#pods.restore()
  }

  /** Pods that an earlier agent had are looked after while the store does not answer. Without any, it stays unknown what pods there are. */
  async standIn(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps
    await clock.sleep(STAND_IN_MS, signal)
    const { pods } = this.#pods
    if (this.#hasEmitted || pods.length === 0) return
    logger.warn('etcd does not answer, using the pods that it had when it last did', { pods: pods.length })
    this.#emit()
  }

  /** Follows the keys on one server; ends by throwing. */
  async follow(server: string, onProgress: () => void, signal: AbortSignal): Promise<never> {
    using connection = await this.#deps.connect(server)
    for (;;) {
      const seen = this.#seen ?? (await this.#list(connection, server, signal))
      try {
        for await (const news of connection.watch(this.#range, seen.revision + 1n, signal)) {
          this.#checkStore(news)
          onProgress()
          const now = { clusterId: news.clusterId, revision: later(news.knownTo, this.#seen?.revision) }
          if (await this.#pods.change(news.changes, now)) this.#emit()
          this.#seen = now
        }
      } catch (error) {
        if (!(error instanceof EtcdHistoryError)) throw error
        this.#deps.logger.info('reading all pods in etcd again', { server, reason: error.message })
        this.#seen = undefined
      }
    }
  }

  async #list(connection: Pick<EtcdConnection, 'list'>, server: string, signal: AbortSignal): Promise<StoreTime> {
    const { changes, clusterId, knownTo } = await connection.list(this.#range, signal)
    const now = { clusterId, revision: knownTo }
    await this.#pods.replace(changes, now)
    this.#seen = now
    const pods = this.#pods.pods.length
    this.#deps.logger.info('following the pods in etcd', { server, prefix: this.#deps.prefix, pods })
    this.#emit()
    return now
  }

  #emit(): void {
    this.#hasEmitted = true
    this.#deps.emit(this.#pods.pods)
  }

  /** A store that was restored from a backup, or another one, counts from another revision: a watch would wait for what never comes. */
  #checkStore({ clusterId, revision }: StoreTime): void {
    if (this.#seen === undefined) return
    if (clusterId !== this.#seen.clusterId) throw new EtcdHistoryError('it is another store')
    if (revision < this.#seen.revision) throw new EtcdHistoryError('the store has gone back')
  }
}

function later(one: bigint, other = 0n): bigint {
  return one > other ? one : other
}
