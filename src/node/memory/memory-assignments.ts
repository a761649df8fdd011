import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { isSidecar } from '../../model/pod/pod-containers.ts'
import { podLogName } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PlacementMetrics } from '../../metrics/placement-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { StateRecord } from '../../system/files/state/state-file.ts'
import { findEndedPods, readPlaces } from '../placement/assigned-pods.ts'
import { sortNodes } from '../placement/compute-numa-sets.ts'
import type { NumaSet, PlacementAffinity, PlacementHints, PlacementRejection } from '../placement/hint-provider.ts'
import { isPlacedWhole } from '../placement/pod-level.ts'
import type { PodLevel } from '../placement/pod-level.ts'
import { nodesOf } from './compute-kept-memory.ts'
import { computeMemoryAllocation } from './compute-memory-allocation.ts'
import { computeMemoryNeeds } from './compute-memory-needs.ts'
import { computeWholePodMemory } from './compute-whole-pod-memory.ts'
import type { MemoryAllocation, MemorySituation } from './compute-memory-allocation.ts'
import { computeContainerMemoryHints, computePodMemoryHints } from './compute-pod-memory-hints.ts'
import { formatMemoryStateFile } from './memory-state-file.ts'
import { toMachineMemory, withoutPodMemory } from './memory-state.ts'
import type { MachineMemory, MemoryAssignmentTable, MemoryBlock, MemoryPolicy } from './memory-state.ts'
import type { PodMemory } from './pod-memory.ts'

export interface MemoryAssignmentsDeps {
  readonly policy: MemoryPolicy
  /** What pods with resources of their own get. */
  readonly podLevel: PodLevel
  /** What an earlier agent gave away. */
  readonly recorded: MemoryAssignmentTable
  readonly write: (text: string) => Promise<void>
  /** The pods that were admitted and have not ended. */
  readonly activePods: () => readonly Pod[]
  readonly observed: { get(uid: PodUid): ObservedPod | undefined }
  /** The nodes whose memory the kernel lets a container use; undefined when they cannot be read. */
  readonly readNodes: (
    container: { readonly uid: PodUid; readonly id: string },
    signal: AbortSignal,
  ) => Promise<NumaSet | undefined>
  readonly periodMs: number
  readonly metrics: Pick<PlacementMetrics, 'memoryGiven' | 'memoryRejected' | 'podMemoryGiven' | 'podMemoryRejected'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The static policy: containers of Guaranteed pods get all their memory from as few NUMA nodes as have it. What is given away is never given
 * twice, and a pod that runs keeps its place, whatever was lost of the records.
 */
export class MemoryAssignments implements PodMemory {
  readonly #deps: MemoryAssignmentsDeps
  readonly #wakeup = new Wakeup()
  readonly #record: StateRecord
  #assignments: MemoryAssignmentTable
  #machine: MachineMemory
  /** Where containers run that are in no record. */
  readonly #found = new Map<PodUid, Map<string, NumaSet>>()
  /** Pods that run and for which there was no memory left; they are counted when there is some. */
  readonly #lacking = new Map<PodUid, Pod>()
  #sourcesReady = false

  constructor(deps: MemoryAssignmentsDeps) {
    this.#deps = deps
    this.#assignments = deps.recorded
    this.#machine = toMachineMemory(deps.policy, deps.recorded)
    this.#record = new StateRecord({ write: deps.write, format: () => this.#format() })
  }

  async adoptRunning(running: readonly ObservedPod[], signal: AbortSignal): Promise<void> {
    const { readNodes, log } = this.#deps
    const deps = {
      isKnown: (uid: PodUid, container: string) => this.blocksOf(uid, container).length > 0,
      read: readNodes,
      problem: 'cannot see of which NUMA nodes a container has memory',
      log,
    }
    for await (const { uid, container, place: nodes } of readPlaces(deps, running, signal)) {
      // A container that was given no nodes may use all of them.
      if (nodes.size === 0 || nodes.size === this.#machine.size) continue
      this.#found.set(uid, (this.#found.get(uid) ?? new Map<string, NumaSet>()).set(container, nodes))
    }
  }

  hints(pod: Pod, container: Container): PlacementHints {
    this.#forgetEnded(pod.metadata.uid)
    return computeContainerMemoryHints(pod, container, this.#situation())
  }

  podHints(pod: Pod): PlacementHints {
    this.#forgetEnded(pod.metadata.uid)
    return computePodMemoryHints(pod, this.#situation())
  }

  allocate(pod: Pod, container: Container, affinity: PlacementAffinity): PlacementRejection | undefined {
    this.#forgetEnded(pod.metadata.uid)
    return this.#give(pod, container, affinity)
  }

  allocatePod(pod: Pod, affinity: PlacementAffinity): PlacementRejection | undefined {
    this.#forgetEnded(pod.metadata.uid)
    return this.#giveWhole(pod, affinity)
  }

  adopt(pod: Pod): void {
    const { uid } = pod.metadata
    if (this.#giveAll(pod)) return
    this.#lacking.set(uid, pod)
    const { log } = this.#deps
    log.error('a pod that runs has memory that others were given too', { pod: podLogName(pod), uid })
  }

  /** Counts what the containers of a pod that runs have where they are; init containers have ended. */
  #giveAll(pod: Pod): boolean {
    const found = this.#found.get(pod.metadata.uid)
    if (isPlacedWhole(pod, this.#deps.podLevel)) {
      const nodes = found && new Set([...found.values()].flatMap((each) => [...each]))
      const isGiven = this.#giveWhole(pod, { nodes, preferred: false }) === undefined
      if (isGiven) this.#found.delete(pod.metadata.uid)
      return isGiven
    }
    const containers = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers]
    const isWhole = containers
      .map((container) => this.#give(pod, container, { nodes: found?.get(container.name), preferred: false }))
      .every((rejection) => rejection === undefined)
    if (isWhole) this.#found.delete(pod.metadata.uid)
    return isWhole
  }

  #give(pod: Pod, container: Container, affinity: PlacementAffinity): PlacementRejection | undefined {
    const { metrics } = this.#deps
    return this.#take(computeMemoryAllocation(pod, container, { ...this.#situation(), affinity }), {
      given: (kinds) => metrics.memoryGiven(kinds),
      rejected: () => metrics.memoryRejected(),
    })
  }

  #giveWhole(pod: Pod, affinity: PlacementAffinity): PlacementRejection | undefined {
    const { metrics, podLevel } = this.#deps
    const { initContainers = [], containers } = pod.spec
    const all = [...initContainers, ...containers]
    const exclusive = all.filter((each) => computeMemoryNeeds(pod, each, podLevel).size > 0).length
    return this.#take(computeWholePodMemory(pod, { ...this.#situation(), affinity }), {
      given: () => metrics.podMemoryGiven({ exclusive, shared: all.length - exclusive }),
      rejected: () => metrics.podMemoryRejected(),
    })
  }

  #take(
    allocation: MemoryAllocation,
    count: { readonly given: (kinds: number) => void; readonly rejected: () => void },
  ): PlacementRejection | undefined {
    switch (allocation.kind) {
      case 'none':
        return undefined
      case 'rejected':
        count.rejected()
        return allocation.rejection
      case 'given':
        count.given(allocation.kinds)
        this.#set(allocation.assignments)
        return undefined
    }
  }

  #situation(): MemorySituation {
    return { machine: this.#machine, assignments: this.#assignments, podLevel: this.#deps.podLevel }
  }

  sourcesReady(): void {
    this.#sourcesReady = true
    this.#wakeup.wake()
  }

  release(uid: PodUid): void {
    this.#found.delete(uid)
    this.#lacking.delete(uid)
    if (!this.#assignments.has(uid)) return
    this.#set(withoutPodMemory(this.#assignments, uid))
    for (const [other, pod] of this.#lacking) if (this.#giveAll(pod)) this.#lacking.delete(other)
  }

  wake(): void {
    this.#wakeup.wake()
  }

  async prepare(uid: PodUid, container: string): Promise<string> {
    const nodes = nodesOf(this.blocksOf(uid, container))
    if (nodes.size > 0) await this.#record.save()
    return sortNodes(nodes).join(',')
  }

  blocksOf(uid: PodUid, container: string): readonly MemoryBlock[] {
    return this.#assignments.get(uid)?.get(container) ?? []
  }

  allocatable(): readonly MemoryBlock[] {
    return [...this.#deps.policy].flatMap(([node, kinds]) =>
      [...kinds]
        .filter(([, { allocatable }]) => allocatable > 0n)
        .map(([type, { allocatable }]) => ({ nodes: new Set([node]), type, size: allocatable })),
    )
  }

  /** Keeps the record up to date, and frees what ended pods had. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, periodMs, log } = this.#deps
    for (;;) {
      this.#forgetEnded()
      try {
        await this.#record.save()
      } catch (error) {
        log.error('cannot record which memory containers have, will try again', { error })
      }
      await this.#wakeup.wait({ clock, ms: periodMs }, signal)
    }
  }

  #forgetEnded(admitted?: PodUid): void {
    if (!this.#sourcesReady) return
    const known = [...this.#assignments.keys(), ...this.#found.keys()]
    for (const uid of findEndedPods(this.#deps, known, admitted)) this.release(uid)
  }

  #set(assignments: MemoryAssignmentTable): void {
    this.#assignments = assignments
    this.#machine = toMachineMemory(this.#deps.policy, assignments)
    this.#wakeup.wake()
  }

  #format(): string {
    return formatMemoryStateFile({
      policyName: 'Static',
      machine: this.#machine,
      assignments: this.#assignments,
      podLevel: this.#deps.podLevel !== 'off',
    })
  }
}
