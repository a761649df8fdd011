import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { formatCpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { computeCpusetUpdates } from './compute-cpuset-updates.ts'
import type { CpusetUpdate, WantedCpus } from './compute-cpuset-updates.ts'

export interface CpusetKeeperDeps {
  readonly observed: { uids(): readonly PodUid[]; get(uid: PodUid): ObservedPod | undefined }
  /** The CPUs on which the kernel lets a container run; undefined when they cannot be read. */
  readonly readCpus: (
    container: { readonly uid: PodUid; readonly id: string },
    signal: AbortSignal,
  ) => Promise<CpuSet | undefined>
  readonly setCpus: (update: CpusetUpdate, signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly log: Logger
}

// Enough to keep the runtime busy, too few to flood it.
const PARALLEL_UPDATES = 4
// A container that does not answer must not keep the others waiting.
const UPDATE_DEADLINE_MS = 10_000

/** Puts running containers on the CPUs where they belong, and asks the runtime only for those that are elsewhere. */
export class CpusetKeeper {
  readonly #deps: CpusetKeeperDeps
  /** What was last set, by the id of the container. */
  readonly #applied = new Map<string, string>()

  constructor(deps: CpusetKeeperDeps) {
    this.#deps = deps
  }

  /** True when all of them are where they belong. */
  async keep(wanted: WantedCpus, signal: AbortSignal): Promise<boolean> {
    const { observed } = this.#deps
    const pods = observed.uids().flatMap((uid) => observed.get(uid) ?? [])
    const ids = new Set(pods.flatMap(({ containers }) => containers.map(({ id }) => id)))
    for (const id of this.#applied.keys()) if (!ids.has(id)) this.#applied.delete(id)
    const waiting = [...computeCpusetUpdates(pods, wanted, this.#applied)]
    let isDone = true
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        isDone = (await this.#apply(next, signal)) && isDone
    }
    await Promise.all(Array.from({ length: PARALLEL_UPDATES }, work))
    return isDone
  }

  async #apply(update: CpusetUpdate, signal: AbortSignal): Promise<boolean> {
    const { clock, log, readCpus, setCpus } = this.#deps
    const { uid, name, id, cpus } = update
    try {
      const options = { clock, ms: UPDATE_DEADLINE_MS, what: `moving container "${id}" to other CPUs` }
      await withDeadline(
        options,
        async (s) => {
          // A container without a known cpuset, such as a new one, usually has the right CPUs.
          const actual = this.#applied.has(id) ? undefined : await readCpus({ uid, id }, s)
          if (actual !== undefined && formatCpuSet(actual) === cpus) return
          await setCpus(update, s)
          log.info('container runs on other CPUs', { uid, container: name, cpus })
        },
        signal,
      )
      this.#applied.set(id, cpus)
      return true
    } catch (error) {
      signal.throwIfAborted()
      log.warn('cannot move a container to other CPUs, will try again', { uid, container: name, cpus, error })
      return false
    }
  }
}
