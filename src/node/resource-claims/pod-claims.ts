import type { Clock } from '../../base/async/clock.ts'
import { KeyedLock } from '../../base/async/keyed-lock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { NO_INJECTIONS } from '../../pods/containers/container-injections.ts'
import type { ContainerInjections } from '../../pods/containers/container-injections.ts'
import { InjectionsError } from '../../model/pod/injections-error.ts'
import type { Container, EphemeralContainer } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { claimKey } from './claim-record.ts'
import type { ClaimRecord } from './claim-record.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'
import type { ClaimDeps } from './claim-deps.ts'
import { computeClaimNames } from './compute-claim-names.ts'
import { computeContainerClaims, computeRequestDevices } from './compute-container-claims.ts'
import type { DriverDevice } from './compute-container-claims.ts'
import { findPodClaims } from './find-pod-claims.ts'
import { Preparations } from './preparations.ts'
import { prepareClaims } from './prepare-claims.ts'
import { unprepareClaims } from './unprepare-claims.ts'

export interface PodClaimsDeps extends Omit<ClaimDeps, 'lock'> {
  /** Something of a pod may still run, or start: then its own worker gives its claims back. */
  readonly mayRun: (uid: PodUid) => boolean
  /** A pod that is here, desired or not. */
  readonly findPod: (uid: PodUid) => Pod | undefined
  /** Does the runtime have anything of the pod? */
  readonly wasStarted: (uid: PodUid) => boolean
  /** Pods that run; their claims are recorded again when the record was lost. */
  readonly activePods: () => readonly Pod[]
  readonly onOperation: (operation: ClaimOperation) => void
  readonly events: PodEvents
  readonly tasks: Pick<TaskGroup, 'run'>
  readonly clock: Clock
}

/** All claims of one pod, prepared or given back. */
export interface ClaimOperation {
  readonly name: 'PrepareResources' | 'UnprepareResources'
  readonly failed: boolean
  readonly seconds: number
}

/** A claim that a container uses, with its devices. */
export interface UsedClaim {
  readonly namespace: string
  readonly name: string
  readonly devices: readonly DriverDevice[]
}

interface PodRequest {
  readonly pod: Pod
  /** A new sandbox is about to be made: whatever an earlier agent had prepared may be gone with the machine's memory. */
  readonly startsAgain: boolean
  readonly noteStep: NoteStep
}

interface ContainerRequest {
  readonly pod: Pod
  readonly container: Container | EphemeralContainer
}

const RECONCILE_MS = 60_000
const ANY_DRIVER = '<any>'
const quietly: NoteStep = (_, work) => work()

/** The claims of all pods on this node: prepared before a pod starts, given back when nothing of it runs any more. */
export class PodClaims {
  readonly #deps: PodClaimsDeps & ClaimDeps
  readonly #preparations: Preparations
  readonly #wakeup = new Wakeup()
  /** Pods that could not get their claims, or not give them back. */
  readonly #failed = new Set<PodUid>()
  #allSeen = false

  constructor(deps: PodClaimsDeps) {
    this.#deps = { ...deps, lock: new KeyedLock() }
    this.#preparations = new Preparations(deps.tasks)
  }

  /** Before anything of the pod starts. Fails with an InjectionsError, and records an event on the pod. */
  async ensure(request: PodRequest, signal: AbortSignal): Promise<void> {
    const { pod, startsAgain } = request
    if (computeClaimNames(pod, this.#deps.rules).length === 0 || this.#isReady(pod, startsAgain)) return
    await this.#preparations.join(pod.metadata.uid, (s) => this.#prepare(request, s), signal)
  }

  async #prepare({ pod, noteStep }: PodRequest, signal: AbortSignal): Promise<void> {
    try {
      const prepare = () => prepareClaims(this.#deps, { pod, noteStep }, signal)
      await this.#measured('PrepareResources', pod.metadata.uid, prepare, signal)
    } catch (error) {
      if (error instanceof InjectionsError) {
        const message = `Failed to prepare dynamic resources: ${error.message}`
        this.#deps.events.record(pod, { type: 'Warning', reason: 'FailedPrepareDynamicResources', message })
      }
      throw error
    }
  }

  /** Once nothing of the pod runs any more. Fails with an InjectionsError. */
  async release(
    { uid, noteStep }: { readonly uid: PodUid; readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#preparations.end(uid)
    await this.#recordLost(uid, signal)
    if (!this.holds(uid)) {
      this.#failed.delete(uid)
      return
    }
    const unprepare = () => unprepareClaims(this.#deps, { uid, noteStep }, signal)
    await this.#measured('UnprepareResources', uid, unprepare, signal)
  }

  /** Claims are prepared for the pod, or may be. */
  holds(uid: PodUid): boolean {
    return this.#deps.records.of(uid).length > 0
  }

  /** What one container uses of the claims of its pod. */
  usedBy(pod: Pod, container: Container | EphemeralContainer): readonly UsedClaim[] {
    return computeContainerClaims(pod, container, this.#deps.rules).flatMap(({ name, requests }) => {
      const { namespace } = pod.metadata
      const record = this.#deps.records.get(claimKey({ namespace, name }))
      if (record === undefined) return []
      return [{ namespace, name, devices: computeRequestDevices(record, requests) }]
    })
  }

  /** The devices that the runtime puts into a container; without all of its claims it must not begin. */
  async containerInjections({ pod, container }: ContainerRequest): Promise<ContainerInjections> {
    const used = this.usedBy(pod, container)
    const missing = computeContainerClaims(pod, container, this.#deps.rules).find(
      ({ name }) => !used.some((claim) => claim.name === name),
    )
    if (missing !== undefined) throw new Error(`ResourceClaim ${missing.name} is not prepared`)
    const ids = used.flatMap(({ devices }) => devices.flatMap(({ cdiDeviceIds }) => cdiDeviceIds))
    return { ...NO_INJECTIONS, cdiDevices: [...new Set(ids)] }
  }

  /** How many claims are prepared, by driver; one with devices of two drivers counts for both. */
  inUse(): ReadonlyMap<string, number> {
    const counts = new Map([[ANY_DRIVER, 0]])
    const count = (driver: string) => counts.set(driver, (counts.get(driver) ?? 0) + 1)
    for (const record of this.#deps.records.all().filter(isInUse)) [ANY_DRIVER, ...record.drivers.keys()].forEach(count)
    return counts
  }

  /** The pods that have a device, by the driver's name for it. */
  podsWith(driver: string, isWanted: (device: DriverDevice) => boolean): readonly PodUid[] {
    const records = this.#deps.records
      .all()
      .filter(({ drivers }) => (drivers.get(driver) ?? []).some((device) => isWanted({ ...device, driver })))
    return [...new Set(records.flatMap(({ podUids }) => [...podUids]))]
  }

  /** Those that may get further now that a driver has come. */
  failedPods(): readonly PodUid[] {
    return [...this.#failed]
  }

  /** All sources have reported their pods: a pod that is not known now does not come back. */
  sourcesReady(): void {
    this.#allSeen = true
    this.#wakeup.wake()
  }

  /** Checks from time to time whether claims of pods that are gone are still prepared. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#wakeup.wait({ clock: this.#deps.clock, ms: RECONCILE_MS }, signal)
      if (this.#allSeen) await this.#reconcile(signal)
    }
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const { records, log, mayRun } = this.#deps
    const uids = new Set(records.all().flatMap(({ podUids }) => [...podUids]))
    const gone = [...uids].filter((uid) => !mayRun(uid)).map((uid) => this.release({ uid, noteStep: quietly }, signal))
    const lost = records.wereLost ? this.#deps.activePods().filter((pod) => this.#misses(pod)) : []
    const found = lost.map((pod) => this.ensure({ pod, startsAgain: true, noteStep: quietly }, signal))
    for (const outcome of await Promise.allSettled([...gone, ...found])) {
      if (outcome.status === 'fulfilled' || signal.aborted) continue
      log.warn('cannot clean up the claims of a pod, will try again', { error: outcome.reason })
    }
    signal.throwIfAborted()
  }

  /** It runs with claims that are not recorded. */
  #misses(pod: Pod): boolean {
    const { uid } = pod.metadata
    const hasClaims = computeClaimNames(pod, this.#deps.rules).some(({ kind }) => kind === 'claim')
    return hasClaims && !this.holds(uid) && this.#deps.wasStarted(uid)
  }

  /** A pod whose end comes before its claims were recorded again: they are given back by what the API says of them. */
  async #recordLost(uid: PodUid, signal: AbortSignal): Promise<void> {
    const { records, findPod, log } = this.#deps
    const pod = records.wereLost && !this.holds(uid) ? findPod(uid) : undefined
    if (pod === undefined || !this.#misses(pod)) return
    try {
      for (const claim of await findPodClaims(this.#deps, pod, signal)) {
        const known = records.get(claimKey(claim))
        if (known === undefined || known.uid === claim.uid)
          records.set({ ...(known ?? claim), podUids: new Set([...(known?.podUids ?? []), uid]) })
      }
    } catch (error) {
      if (!(error instanceof InjectionsError)) throw error
      log.warn('cannot find out which claims of a pod have to be given back', { uid, error })
    }
  }

  /** No driver has to be asked: what was prepared for the pod is still valid. */
  #isReady(pod: Pod, startsAgain: boolean): boolean {
    const { namespace, uid } = pod.metadata
    return computeClaimNames(pod, this.#deps.rules).every((claim) => {
      if (claim.kind !== 'claim') return claim.kind === 'none'
      const record = this.#deps.records.get(claimKey({ namespace, name: claim.name }))
      if (record === undefined || !record.podUids.has(uid)) return false
      return record.isPrepared || (!startsAgain && isInUse(record))
    })
  }

  async #measured(
    name: ClaimOperation['name'],
    uid: PodUid,
    work: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, onOperation } = this.#deps
    const startedAt = clock.monotonic()
    const end = (failed: boolean) => onOperation({ name, failed, seconds: (clock.monotonic() - startedAt) / 1000 })
    try {
      await work()
      this.#failed.delete(uid)
      end(false)
    } catch (error) {
      if (!signal.aborted) {
        this.#failed.add(uid)
        end(true)
      }
      throw error
    }
  }
}

/** Prepared by this agent, or seen to be by an earlier one. */
function isInUse({ isPrepared, drivers }: ClaimRecord): boolean {
  return isPrepared || [...drivers.values()].some((devices) => devices.length > 0)
}
