import { computePodLimits, parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { Container, EphemeralContainer } from '../../model/generated/core-v1.ts'
import { isExtendedResource } from '../../model/resources/is-extended-resource.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { quantityValue } from '../../model/resources/quantity.ts'
import type {
  HintProvider,
  PlacementAffinity,
  PlacementHint,
  PlacementHints,
  PlacementRejection,
} from '../placement/hint-provider.ts'
import { computeDeviceChoice } from './compute-device-choice.ts'
import { computeDeviceHints, hasPlaces } from './compute-device-hints.ts'
import { computeReusableDevices } from './compute-reusable-devices.ts'
import type { CheckpointEntry } from './device-checkpoint-file.ts'
import type { DeviceInventory } from './device-inventory.ts'
import type { ContainerDevices } from './device.ts'

export interface DeviceAssignmentsDeps {
  readonly inventory: Pick<DeviceInventory, 'knows' | 'devices'>
  /** What an earlier agent gave away. */
  readonly recorded: readonly CheckpointEntry[]
  /** Of the machine. */
  readonly numaNodes: readonly number[]
  /** The assignments have changed. */
  readonly onChange: () => void
}

/** Devices of one resource that belong to one container. */
export interface DevicePlace {
  readonly uid: PodUid
  readonly container: string
  readonly resource: string
}

type ByResource = Map<string, ContainerDevices>

/** Which container has which devices. All of it is decided at once: the pod's worker asks the plugins later. */
export class DeviceAssignments implements HintProvider {
  readonly #deps: DeviceAssignmentsDeps
  readonly #pods = new Map<PodUid, Map<string, ByResource>>()

  constructor(deps: DeviceAssignmentsDeps) {
    this.#deps = deps
    for (const { byNode, response, ...place } of deps.recorded) {
      const ids = [...new Set([...byNode.values()].flat())].sort()
      this.#put(place, { kind: 'given', ids, byNode, response, isConfirmed: false })
    }
  }

  get uids(): readonly PodUid[] {
    return [...this.#pods.keys()]
  }

  get(place: DevicePlace): ContainerDevices | undefined {
    return this.#pods.get(place.uid)?.get(place.container)?.get(place.resource)
  }

  set(place: DevicePlace, devices: ContainerDevices): void {
    this.#put(place, devices)
    this.#deps.onChange()
  }

  /** By resource. */
  ofContainer(uid: PodUid, container: string): ReadonlyMap<string, ContainerDevices> {
    return this.#pods.get(uid)?.get(container) ?? new Map()
  }

  /** Everything that belongs to a container, in a fixed order. */
  list(): readonly (DevicePlace & { readonly devices: ContainerDevices })[] {
    return sorted(this.#pods).flatMap(([uid, containers]) =>
      sorted(containers).flatMap(([container, resources]) =>
        sorted(resources).map(([resource, devices]) => ({ uid, container, resource, devices })),
      ),
    )
  }

  /** The ids of a resource that containers have. */
  taken(resource: string): ReadonlySet<string> {
    return new Set(this.list().flatMap((each) => (each.resource === resource ? each.devices.ids : [])))
  }

  /** The devices that a container asks for, by resource. */
  requested(pod: Pod, container: Container | EphemeralContainer): ReadonlyMap<string, number> {
    const claimed = new Set(
      (pod.status?.extendedResourceClaimStatus?.requestMappings ?? [])
        .filter(({ containerName }) => containerName === container.name)
        .map(({ resourceName }) => resourceName),
    )
    const limits = [...this.#counts(parseAmounts(container.resources?.limits))]
    return new Map(limits.filter(([resource]) => !claimed.has(resource)))
  }

  hints(pod: Pod, container: Container): PlacementHints {
    const { uid } = pod.metadata
    return this.#toHints(this.requested(pod, container), (resource) => ({
      had: this.get({ uid, container: container.name, resource })?.ids ?? [],
      reusable: this.#reusable(pod, container.name, resource),
    }))
  }

  podHints(pod: Pod): PlacementHints {
    const containers = this.#pods.get(pod.metadata.uid)
    return this.#toHints(this.#counts(computePodLimits(pod, { overhead: false })), (resource) => ({
      had: [...new Set([...(containers?.values() ?? [])].flatMap((resources) => resources.get(resource)?.ids ?? []))],
      reusable: [],
    }))
  }

  allocate(pod: Pod, container: Container, { nodes }: PlacementAffinity): PlacementRejection | undefined {
    const { inventory } = this.#deps
    const { uid } = pod.metadata
    for (const [resource, count] of this.requested(pod, container)) {
      const place = { uid, container: container.name, resource }
      const had = this.get(place)
      if (had?.ids.length === count) continue
      if (had !== undefined)
        return reject(
          `pod "${uid}" container "${container.name}" changed request for resource "${resource}" from ${had.ids.length} to ${count}`,
        )
      if (!inventory.knows(resource)) return reject(`cannot allocate unregistered device ${resource}`)
      const desired = { resource, count, reusable: this.#reusable(pod, container.name, resource), affinity: nodes }
      const stock = { devices: inventory.devices(resource), taken: this.taken(resource) }
      const choice = computeDeviceChoice(desired, stock)
      if (choice.kind === 'rejected') return reject(choice.why)
      this.set(place, { kind: 'reserved', ids: choice.ids, open: choice.open })
    }
    return undefined
  }

  /** What the pod has is in use. */
  confirm(uid: PodUid): void {
    for (const { devices, ...place } of this.list())
      if (place.uid === uid && devices.kind === 'given') this.#put(place, { ...devices, isConfirmed: true })
  }

  release(uid: PodUid): void {
    if (this.#pods.delete(uid)) this.#deps.onChange()
  }

  #put({ uid, container, resource }: DevicePlace, devices: ContainerDevices): void {
    const containers = this.#pods.getOrInsertComputed(uid, () => new Map<string, ByResource>())
    containers.getOrInsertComputed(container, () => new Map()).set(resource, devices)
  }

  #reusable(pod: Pod, container: string, resource: string): readonly string[] {
    const { uid } = pod.metadata
    return computeReusableDevices(pod, container, (name) => this.get({ uid, container: name, resource })?.ids ?? [])
  }

  /** The amounts that are devices. */
  #counts(amounts: ResourceAmounts): ReadonlyMap<string, number> {
    const counts = [...amounts].map(([resource, amount]) => [resource, Number(quantityValue(amount))] as const)
    const isDevice = (resource: string) =>
      isExtendedResource(resource) && (this.#deps.inventory.knows(resource) || this.taken(resource).size > 0)
    return new Map(sorted(new Map(counts.filter(([resource, count]) => count > 0 && isDevice(resource)))))
  }

  #toHints(
    requested: ReadonlyMap<string, number>,
    find: (resource: string) => { readonly had: readonly string[]; readonly reusable: readonly string[] },
  ): PlacementHints {
    const entries = [...requested].map(
      ([resource, count]) => [resource, this.#hintsOf(resource, count, find(resource))] as const,
    )
    return new Map(entries)
  }

  #hintsOf(
    resource: string,
    count: number,
    { had, reusable }: { readonly had: readonly string[]; readonly reusable: readonly string[] },
  ): readonly PlacementHint[] | undefined {
    const devices = this.#deps.inventory.devices(resource)
    if (!hasPlaces(devices)) return undefined
    const { numaNodes } = this.#deps
    if (had.length > 0)
      return had.length === count ? computeDeviceHints({ devices, available: had, reusable: [], count, numaNodes }) : []
    const taken = this.taken(resource)
    const healthy = [...devices.values()].filter(({ isHealthy }) => isHealthy).map(({ id }) => id)
    const available = healthy.filter((id) => !taken.has(id))
    if (available.length + reusable.length < count) return []
    return computeDeviceHints({ devices, available, reusable, count, numaNodes })
  }
}

function reject(why: string): PlacementRejection {
  return { reason: 'UnexpectedAdmissionError', message: `Allocate failed due to ${why}, which is unexpected` }
}

function sorted<K extends string, V>(map: ReadonlyMap<K, V>): readonly (readonly [K, V])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
