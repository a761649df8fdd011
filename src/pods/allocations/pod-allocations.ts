import type { ResourceRequirements } from '../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { allocationOf, withAllocation } from '../../model/resources/pod-allocation.ts'
import type { PodAllocation, ResizeScope } from '../../model/resources/pod-allocation.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { sameAllocation } from '../../model/resources/same-resources.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { SavedAllocations } from './saved-allocations.ts'
import { computeRebuiltAllocation } from './compute-rebuilt-allocation.ts'
import { computeReservedPod } from './compute-reserved-pod.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'

export interface PodAllocationsDeps {
  readonly files: { readonly allocated: StateFile; readonly actuated: StateFile }
  readonly scope: ResizeScope
  readonly log: Logger
}

interface Cached {
  readonly allocation: PodAllocation
  readonly pod: Pod
}

/**
 * What each pod was granted, and what was last set for it. A spec may ask for something else at any time; all that is done with a pod goes
 * by what it was granted (docs/decisions/0018-resize.md).
 */
export class PodAllocations {
  readonly #scope: ResizeScope
  readonly #allocated: SavedAllocations
  readonly #actuated: SavedAllocations
  /** The same pod gives the same object each time, so that a comparison shows that nothing changed. */
  readonly #pods = new WeakMap<Pod, Cached>()
  readonly #reserved = new WeakMap<Pod, Cached>()

  private constructor({ scope }: PodAllocationsDeps, allocated: SavedAllocations, actuated: SavedAllocations) {
    this.#scope = scope
    this.#allocated = allocated
    this.#actuated = actuated
  }

  static async load(deps: PodAllocationsDeps): Promise<PodAllocations> {
    const { files, log } = deps
    const loaded = [SavedAllocations.load(files.allocated, log), SavedAllocations.load(files.actuated, log)] as const
    return new PodAllocations(deps, await loaded[0], await loaded[1])
  }

  /** The pod with the resources that it was granted; as it is while it was granted none. */
  allocated(pod: Pod): Pod {
    const allocation = this.#allocated.get(pod.metadata.uid)
    if (allocation === undefined) return pod
    const known = this.#pods.get(pod)
    if (known?.allocation === allocation) return known.pod
    const made = this.isGranted(pod) ? pod : withAllocation(pod, allocation, this.#scope)
    this.#pods.set(pod, { allocation, pod: made })
    return made
  }

  /** The same with at least what was last set for it: room is free when it was really given up. */
  reserved(pod: Pod): Pod {
    const allocated = this.allocated(pod)
    const actuated = this.#actuated.get(pod.metadata.uid)
    if (actuated === undefined) return allocated
    const known = this.#reserved.get(allocated)
    if (known?.allocation === actuated) return known.pod
    const made = computeReservedPod(allocated, actuated)
    this.#reserved.set(allocated, { allocation: actuated, pod: made })
    return made
  }

  /** Does the spec ask for nothing else than the pod was granted? */
  isGranted(pod: Pod): boolean {
    const allocation = this.#allocated.get(pod.metadata.uid)
    return allocation === undefined || sameAllocation(this.#ofSameContainers(pod, allocation), this.#asked(pod))
  }

  /** The pod is taken in: it has what it asks for, unless it was granted something before. */
  admit(pod: Pod): void {
    if (this.#allocated.get(pod.metadata.uid) === undefined) this.grant(pod)
  }

  /** From now on the pod has what its spec asks for. */
  grant(pod: Pod): void {
    this.#allocated.set(pod.metadata.uid, this.#asked(pod))
  }

  /** A pod of which something is there and nothing is remembered. */
  adopt(pod: Pod, observed: ObservedPod): void {
    const { uid } = pod.metadata
    const [allocated, actuated] = [this.#allocated.get(uid), this.#actuated.get(uid)]
    if (allocated !== undefined && actuated !== undefined) return
    const rebuilt = computeRebuiltAllocation(pod, observed, { scope: this.#scope, actuated })
    if (allocated === undefined) this.#allocated.set(uid, rebuilt.allocated)
    if (actuated === undefined) this.#actuated.set(uid, rebuilt.actuated)
  }

  /**
   * What was last set for the pod and its containers; those that are not named were never made. Where a whole pod can be resized, one that
   * has no resources of its own has none set: it may get some.
   */
  actuated(uid: PodUid): PodAllocation | undefined {
    const actuated = this.#actuated.get(uid)
    return actuated && this.#scope.podLevel ? { ...actuated, pod: actuated.pod ?? {} } : actuated
  }

  /** What never changes its size is not remembered. The first container comes after the pod itself got what it was granted. */
  noteContainer(pod: Pod, name: string, resources: ResourceRequirements): void {
    const { uid } = pod.metadata
    if (!this.#asked(pod).containers.has(name)) return
    const known = this.#actuated.get(uid)
    const whole = known === undefined ? this.#ofPod(pod.spec.resources) : known.pod
    this.#actuated.set(uid, { containers: new Map([...(known?.containers ?? []), [name, resources]]), pod: whole })
  }

  notePod({ metadata: { uid } }: Pod, resources: ResourceRequirements | undefined): void {
    const known = this.#actuated.get(uid)
    this.#actuated.set(uid, { containers: known?.containers ?? new Map(), pod: this.#ofPod(resources) })
  }

  forget(uid: PodUid): void {
    this.#allocated.forget(uid)
    this.#actuated.forget(uid)
  }

  /** Drops what is remembered of pods that no source has. */
  forgetUnknown(knows: (uid: PodUid) => boolean): void {
    for (const uid of new Set([...this.#allocated.uids(), ...this.#actuated.uids()])) if (!knows(uid)) this.forget(uid)
  }

  /** Resolves when a later agent would know what this one knows. */
  async saved(): Promise<void> {
    await Promise.all([this.#allocated.saved(), this.#actuated.saved()])
  }

  #ofPod(resources: ResourceRequirements | undefined): ResourceRequirements | undefined {
    return this.#scope.podLevel ? resources : undefined
  }

  #asked(pod: Pod): PodAllocation {
    return allocationOf(pod, this.#scope)
  }

  /** A container that was not there when the pod was admitted has what its spec says. */
  #ofSameContainers(pod: Pod, allocation: PodAllocation): PodAllocation {
    return allocationOf(withAllocation(pod, allocation, this.#scope), this.#scope)
  }
}
