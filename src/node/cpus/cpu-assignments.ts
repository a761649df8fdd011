import { Wakeup } from '../../base/async/wakeup.ts'
import { formatCpuSet } from '../../model/resources/cpu-set.ts'
import type { CpuSet } from '../../model/resources/cpu-set.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { allContainers } from '../../model/pod/pod-containers.ts'
import { podLogName } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { CpuMetrics, CpuPoolStats } from '../../metrics/placement-metrics.ts'
import { StateRecord } from '../../system/files/state/state-file.ts'
import { findEndedPods, readPlaces } from '../placement/assigned-pods.ts'
import type { PlacementAffinity, PlacementHints } from '../placement/hint-provider.ts'
import { isPlacedWhole, listSharing, WHOLE_POD } from '../placement/pod-level.ts'
import { computeContainerCpus, computeUsableCpus } from './compute-container-cpus.ts'
import type { CpuRejection, CpuSituation } from './compute-container-cpus.ts'
import { computeCpuAllocation } from './choose/compute-cpu-allocation.ts'
import type { CpuAllocation } from './choose/compute-cpu-allocation.ts'
import { computeContainerCpuHints, computePodCpuHints } from './choose/compute-cpu-hints.ts'
import { computeExclusiveCount } from './choose/compute-exclusive-count.ts'
import { computeWholePodCpus } from './choose/compute-whole-pod-cpus.ts'
import type { CpuPolicy } from './cpu-policy.ts'
import { formatCpuStateFile } from './cpu-state-file.ts'
import { assignedCpus, toCpuState, withAssignment, withoutPod } from './cpu-state.ts'
import type { CpuAssignmentTable, CpuState } from './cpu-state.ts'
import { allCpus, groupCpus } from './cpu-topology.ts'
import { CpusetKeeper } from './cpuset-keeper.ts'
import type { CpusetKeeperDeps } from './cpuset-keeper.ts'
import type { PodCpus } from './pod-cpus.ts'

export interface CpuAssignmentsDeps extends CpusetKeeperDeps {
  readonly policy: CpuPolicy
  /** What an earlier agent gave away. */
  readonly recorded: CpuState
  readonly write: (text: string) => Promise<void>
  /** The pods that were admitted and have not ended. */
  readonly activePods: () => readonly Pod[]
  /** Containers with CPUs of their own run without a quota. */
  readonly liftsQuota: boolean
  readonly periodMs: number
  readonly metrics: CpuMetrics
}

/**
 * The static policy: containers of Guaranteed pods that ask for whole CPUs get them for themselves, all others share the rest. Nothing that
 * runs on CPUs of its own ever shares one of them with another container that has its own, whatever was lost of the records.
 */
export class CpuAssignments implements PodCpus {
  readonly #deps: CpuAssignmentsDeps
  readonly #wakeup = new Wakeup()
  readonly #record: StateRecord
  readonly #keeper: CpusetKeeper
  #state: CpuState
  /** CPUs of running containers that are not known yet: no other container gets them before that is clear. */
  #held: CpuAssignmentTable = new Map()
  /** Pods that run and could not keep their CPUs; they get others when there are some. */
  readonly #lacking = new Map<PodUid, { readonly isReported: boolean }>()
  /** The containers without CPUs of their own in pods that have resources of their own: a quota holds for them, and for their pod. */
  readonly #sharing = new Map<PodUid, ReadonlySet<string>>()
  #sourcesReady = false

  constructor(deps: CpuAssignmentsDeps) {
    this.#deps = deps
    this.#keeper = new CpusetKeeper(deps)
    this.#state = deps.recorded
    this.#record = new StateRecord({ write: deps.write, format: () => this.#format() })
  }

  async adoptRunning(running: readonly ObservedPod[], signal: AbortSignal): Promise<void> {
    const { policy, readCpus, log } = this.#deps
    const candidates = allCpus(policy.topology).difference(policy.reserved)
    const deps = {
      isKnown: (uid: PodUid, container: string) => this.#ownOf(uid, container) !== undefined,
      read: readCpus,
      problem: 'cannot see on which CPUs a container runs',
      log,
    }
    for await (const { uid, container, place: cpus } of readPlaces(deps, running, signal)) {
      // What is shared includes the reserved CPUs, unless no container may use them.
      if (cpus.size > 0 && cpus.isSubsetOf(candidates))
        this.#held = withAssignment(this.#held, { uid, container, cpus })
    }
  }

  hints(pod: Pod, container: Container): PlacementHints {
    this.#forgetEnded(pod.metadata.uid)
    return computeContainerCpuHints(pod, container, this.#situation(pod))
  }

  podHints(pod: Pod): PlacementHints {
    this.#forgetEnded(pod.metadata.uid)
    return computePodCpuHints(pod, this.#situation(pod))
  }

  allocate(pod: Pod, container: Container, { nodes }: PlacementAffinity): CpuRejection | undefined {
    const { uid } = pod.metadata
    this.#forgetEnded(uid)
    this.#noteSharing(pod)
    const usable = computeUsableCpus(pod, container, this.#situation(pod))
    if (usable.count === 0 || this.#ownOf(uid, container.name) !== undefined) return undefined
    const choice = computeContainerCpus(this.#deps.policy, usable, nodes)
    if ('rejection' in choice) {
      this.#countRejected()
      return choice.rejection
    }
    this.#countGiven(choice.cpus)
    const assignment = { uid, container: container.name, cpus: choice.cpus }
    this.#set(toCpuState(this.#deps.policy, withAssignment(this.#state.assignments, assignment)))
    return undefined
  }

  allocatePod(pod: Pod, { nodes }: PlacementAffinity): CpuRejection | undefined {
    const { uid } = pod.metadata
    this.#forgetEnded(uid)
    this.#noteSharing(pod)
    if (this.#ownOf(uid, WHOLE_POD) !== undefined) return undefined
    const allocation = computeWholePodCpus(pod, this.#situation(pod), { nodes, had: new Map() })
    this.#take(pod, allocation)
    return allocation.kind === 'rejected' ? allocation.rejection : undefined
  }

  adopt(pod: Pod): void {
    const { uid } = pod.metadata
    const { policy } = this.#deps
    this.#noteSharing(pod)
    const found = new Map([...(this.#held.get(uid) ?? []), ...(this.#state.assignments.get(uid) ?? [])])
    this.#held = withoutPod(this.#held, uid)
    let assignments = withoutPod(this.#state.assignments, uid)
    const free = toCpuState(policy, assignments).shared.difference(policy.reserved).difference(this.#heldCpus())
    for (const { kind, container } of isPlacedWhole(pod, policy.options.podLevel) ? [] : allContainers(pod)) {
      const cpus = found.get(container.name)
      const count = kind === 'ephemeral' ? 0 : computeExclusiveCount(pod, container, policy.options.podLevel)
      if (cpus?.size === count && cpus.isSubsetOf(free))
        assignments = withAssignment(assignments, { uid, container: container.name, cpus })
    }
    this.#set(toCpuState(policy, assignments))
    const allocation = this.#compute(pod, found)
    this.#take(pod, allocation)
    if (allocation.kind === 'rejected') this.#lacking.set(uid, { isReported: false })
  }

  sourcesReady(): void {
    this.#sourcesReady = true
    this.#wakeup.wake()
  }

  release(uid: PodUid): void {
    const { assignments } = this.#state
    this.#sharing.delete(uid)
    if (!assignments.has(uid) && !this.#held.has(uid)) return
    this.#held = withoutPod(this.#held, uid)
    this.#set(toCpuState(this.#deps.policy, withoutPod(assignments, uid)))
  }

  wake(): void {
    this.#wakeup.wake()
  }

  cpusOf(uid: PodUid, container: string): string {
    return formatCpuSet(this.#ownOf(uid, container) ?? this.#pool())
  }

  async prepare(uid: PodUid, container: string): Promise<{ readonly cpus: string; readonly exclusive: boolean }> {
    const own = this.#ownOf(uid, container)
    if (own !== undefined) await this.#record.save()
    const exclusive = own !== undefined && this.#sharing.get(uid)?.has(container) !== true
    return { cpus: this.cpusOf(uid, container), exclusive: exclusive && this.#deps.liftsQuota }
  }

  hasExclusive(uid: PodUid): boolean {
    return this.#deps.liftsQuota && this.#state.assignments.has(uid) && !this.#sharing.has(uid)
  }

  exclusiveOf(uid: PodUid, container: string): readonly number[] {
    return sortedCpus(this.#ownOf(uid, container) ?? new Set())
  }

  allocatable(): readonly number[] {
    const { topology, reserved } = this.#deps.policy
    return sortedCpus(allCpus(topology).difference(reserved))
  }

  stats(): CpuPoolStats {
    return computeCpuPoolStats(this.#deps.policy, this.#state)
  }

  /** Puts every container where it belongs: as soon as that changes, and now and then in case it was missed. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, periodMs, log } = this.#deps
    for (;;) {
      this.#forgetEnded()
      this.#giveToLacking()
      try {
        await this.#record.save()
      } catch (error) {
        log.error('cannot record which CPUs containers have, will try again', { error })
      }
      const sharingOf = (uid: PodUid) => this.#sharing.get(uid)
      await this.#keeper.keep({ assignments: this.#known(), pool: this.#pool(), sharingOf }, signal)
      await this.#wakeup.wait({ clock, ms: periodMs }, signal)
    }
  }

  /** Once all pods are known, what seemed to be theirs may be free. */
  #giveToLacking(): void {
    if (!this.#sourcesReady || this.#lacking.size === 0) return
    const pods = new Map(this.#deps.activePods().map((pod) => [pod.metadata.uid, pod]))
    for (const [uid, { isReported }] of this.#lacking) {
      const pod = pods.get(uid)
      const allocation = pod && this.#compute(pod, new Map())
      if (pod !== undefined && allocation?.kind === 'rejected') {
        this.#lacking.set(uid, { isReported: true })
        if (!isReported)
          this.#deps.log.error(
            'a pod that runs has no CPUs for itself any more, it goes on with those that all share',
            {
              pod: podLogName(pod),
              uid,
              why: allocation.rejection.message,
            },
          )
        continue
      }
      this.#lacking.delete(uid)
      if (allocation?.kind === 'given') this.#set(allocation.state)
    }
  }

  #situation({ metadata }: Pod): CpuSituation {
    const held = assignedCpus(withoutPod(this.#held, metadata.uid))
    return { policy: this.#deps.policy, state: this.#state, held }
  }

  /** What a pod that runs needs, if all of it is there. */
  #compute(pod: Pod, had: ReadonlyMap<string, CpuSet>): CpuAllocation {
    const situation = this.#situation(pod)
    return isPlacedWhole(pod, this.#deps.policy.options.podLevel)
      ? computeWholePodCpus(pod, situation, { nodes: undefined, had })
      : computeCpuAllocation(pod, situation)
  }

  #take(pod: Pod, allocation: CpuAllocation): void {
    const { policy, metrics } = this.#deps
    const isWhole = isPlacedWhole(pod, policy.options.podLevel)
    for (const cpus of allocation.given) {
      const shared = this.#sharing.get(pod.metadata.uid)?.size ?? 0
      const all = (pod.spec.initContainers?.length ?? 0) + pod.spec.containers.length
      if (isWhole) metrics.podCpusGiven({ exclusive: all - shared, shared, oneCache: this.#isOneCache(cpus) })
      else this.#countGiven(cpus)
    }
    if (allocation.kind === 'given') this.#set(allocation.state)
    else if (isWhole) metrics.podCpusRejected()
    else this.#countRejected()
  }

  #noteSharing(pod: Pod): void {
    const { podLevel } = this.#deps.policy.options
    const sharing = listSharing(pod, podLevel, (container) => computeExclusiveCount(pod, container, podLevel) > 0)
    if (sharing.size === 0) this.#sharing.delete(pod.metadata.uid)
    else this.#sharing.set(pod.metadata.uid, sharing)
  }

  #countGiven(cpus: CpuSet): void {
    const { policy, metrics } = this.#deps
    metrics.cpusGiven({ wholeCores: policy.options.fullCoresOnly, oneCache: this.#isOneCache(cpus) })
  }

  #isOneCache(cpus: CpuSet): boolean {
    const places = this.#deps.policy.topology.filter(({ cpu }) => cpus.has(cpu))
    return groupCpus(places, 'uncoreCache').size === 1
  }

  #countRejected(): void {
    const { policy, metrics } = this.#deps
    metrics.cpusRejected({ wholeCores: policy.options.fullCoresOnly })
  }

  #forgetEnded(admitted?: PodUid): void {
    if (!this.#sourcesReady) return
    for (const uid of findEndedPods(this.#deps, this.#known().keys(), admitted)) this.release(uid)
  }

  #set(state: CpuState): void {
    this.#state = state
    this.#wakeup.wake()
  }

  /** What is written is what must not be given to others: if this agent dies now, the next one knows. */
  #format(): string {
    const { policy } = this.#deps
    const podLevel = policy.options.podLevel !== 'off'
    return formatCpuStateFile({ policyName: 'static', podLevel, ...toCpuState(policy, this.#known()) })
  }

  /** Those that have CPUs for themselves, and those that seem to. */
  #known(): CpuAssignmentTable {
    let known = this.#held
    for (const [uid, containers] of this.#state.assignments)
      for (const [container, cpus] of containers) known = withAssignment(known, { uid, container, cpus })
    return known
  }

  #ownOf(uid: PodUid, container: string): CpuSet | undefined {
    return this.#state.assignments.get(uid)?.get(container)
  }

  /** Where all other containers run. When nothing is left, only the reserved CPUs belong to no container alone. */
  #pool(): CpuSet {
    const pool = this.#state.shared.difference(this.#heldCpus())
    return pool.size > 0 ? pool : this.#deps.policy.reserved
  }

  #heldCpus(): CpuSet {
    return assignedCpus(this.#held)
  }
}

function sortedCpus(cpus: CpuSet): readonly number[] {
  return [...cpus].sort((a, b) => a - b)
}

/** How many CPUs are given away, and how many could be. */
function computeCpuPoolStats({ topology, reserved }: CpuPolicy, { shared, assignments }: CpuState): CpuPoolStats {
  const exclusive = assignedCpus(assignments)
  const places = topology.filter(({ cpu }) => exclusive.has(cpu))
  return {
    free: shared.difference(reserved).size,
    exclusive: exclusive.size,
    exclusiveByNode: new Map([...groupCpus(places, 'numaNode')].map(([node, cpus]) => [node, cpus.size])),
  }
}
