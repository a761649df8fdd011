import { DeadlineError } from '../../base/async/abort-errors.ts'
import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { findConflicts, mergeInjections, NO_INJECTIONS } from '../../pods/containers/container-injections.ts'
import type { ContainerInjections } from '../../pods/containers/container-injections.ts'
import { DEVICES_ANNOTATION } from '../../model/pod/devices-annotation.ts'
import { InjectionsError } from '../../model/pod/injections-error.ts'
import type { LateRejection } from '../../model/pod/injections-error.ts'
import type { Container, EphemeralContainer, ResourceStatus } from '../../model/generated/core-v1.ts'
import { allContainers } from '../../model/pod/pod-containers.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { DeviceMetrics } from '../../metrics/driver-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { applyPreference } from './apply-preference.ts'
import type { DeviceAssignments, DevicePlace } from './device-assignments.ts'
import type { DeviceInventory } from './device-inventory.ts'
import { formatDevicesAnnotation } from './devices-annotation-text.ts'
import { DevicePluginError } from './device-plugin-client.ts'
import type { DevicePluginCalls } from './device-plugin-client.ts'
import { groupByNode } from './device.ts'
import { toDeviceInjections } from './to-device-injections.ts'
import type { NoteStep } from '../../base/telemetry/note-step.ts'

export interface PodDevicesDeps {
  readonly inventory: DeviceInventory
  readonly assignments: DeviceAssignments
  /** Resolves when what was given is on the disk. */
  readonly record: () => Promise<void>
  /** Is the health of devices reported in the status of pods? */
  readonly reportsHealth: boolean
  readonly metrics: Pick<DeviceMetrics, 'devicesAllocated'>
  readonly events: PodEvents
  readonly tasks: TaskGroup
  readonly clock: Clock
  readonly log: Logger
}

interface EnsureRequest {
  readonly pod: Pod
  /** Nothing of the pod runs. */
  readonly startsAgain: boolean
  readonly noteStep: NoteStep
}

interface ContainerRequest {
  readonly pod: Pod
  readonly container: Container | EphemeralContainer
  readonly noteStep: NoteStep
}

/**
 * How long a pod that had its devices before a reboot waits for their plugin. Controllers replace a pod that fails, so waiting much
 * longer than the Go kubelet, which fails it at once, would keep its replacement away.
 */
const RETURN_MS = 40_000

/**
 * Allocates the devices of admitted pods. The worker of each pod asks the plugins, so that a plugin that does not answer delays
 * only one pod.
 */
export class PodDevices {
  readonly #deps: PodDevicesDeps
  /** Allocations under way, by pod: they go on when the caller stops waiting. */
  readonly #allocating = new Map<PodUid, { readonly done: Promise<void>; readonly scope: AbortScope }>()

  constructor(deps: PodDevicesDeps) {
    this.#deps = deps
  }

  /** All devices of the pod; fails with an InjectionsError. */
  async ensure(request: EnsureRequest, signal: AbortSignal): Promise<void> {
    const { uid } = request.pod.metadata
    const places = this.#places(request.pod)
    if (places.length === 0) return
    const isComplete = places.every((place) => this.#isThere(place, request.startsAgain))
    // What could not be recorded when it was given still has to be recorded.
    if (isComplete && !this.#allocating.has(uid)) return await this.#record()
    const { done } = this.#allocating.getOrInsertComputed(uid, () => this.#begin(request))
    await waitForShared(done, signal)
  }

  /** What one container gets, each time before it is made. */
  async containerInjections(
    { pod, container, noteStep }: ContainerRequest,
    signal: AbortSignal,
  ): Promise<ContainerInjections> {
    const { assignments } = this.#deps
    const { uid } = pod.metadata
    // Usually it has all. Only a container whose devices are no longer known gets new ones.
    const rejection = assignments.allocate(pod, container, { nodes: undefined, preferred: true })
    if (rejection !== undefined) throw new Error(rejection.message)
    await this.ensure({ pod, startsAgain: false, noteStep }, signal)
    const added: ContainerInjections[] = []
    const given = [...assignments.ofContainer(uid, container.name)].sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [resource, devices] of given) {
      await this.#preStart({ uid, container: container.name, resource }, noteStep, signal)
      if (devices.kind === 'given') added.push(toDeviceInjections(devices.response))
    }
    if (given.length === 0) return NO_INJECTIONS
    const conflicts = findConflicts(added)
    if (conflicts.length > 0)
      this.#deps.log.warn('device plugins want different things for one container, using the first', {
        uid,
        container: container.name,
        conflicts,
      })
    const note = { ...NO_INJECTIONS, annotations: { [DEVICES_ANNOTATION]: formatDevicesAnnotation(new Map(given)) } }
    return mergeInjections([...added, note])
  }

  /** Nothing of the pod runs any more: its devices are free. */
  async release({ uid }: { readonly uid: PodUid }): Promise<void> {
    this.free(uid)
  }

  /** The same, at once. */
  free(uid: PodUid): void {
    this.#allocating.get(uid)?.scope.abort(new Error('Pod does not need its devices any more'))
    this.#allocating.delete(uid)
    this.#deps.assignments.release(uid)
  }

  /** A pod that may not start again has nothing to wait for when the plugin of its devices is not back. */
  rejectLost(pod: Pod): LateRejection | undefined {
    const { inventory } = this.#deps
    const missing = this.#places(pod).find((place) => !this.#isThere(place, true) && !inventory.isReady(place.resource))
    return missing && end(notBack(missing.resource)).end
  }

  /** The health of the devices of a pod, by container. */
  health({ metadata: { uid }, spec }: Pod): ReadonlyMap<string, readonly ResourceStatus[]> {
    if (!this.#deps.reportsHealth) return new Map()
    const rows = spec.containers.map(({ name }) => [name, this.#healthOf(uid, name)] as const)
    return new Map(rows.filter(([, statuses]) => statuses.length > 0))
  }

  #healthOf(uid: PodUid, container: string): readonly ResourceStatus[] {
    const { assignments, inventory } = this.#deps
    return (
      [...assignments.ofContainer(uid, container)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([resource, { ids }]) => ({
          name: resource,
          resources: ids.toSorted().flatMap((id) => {
            const health = inventory.health(resource, id)
            return health === undefined ? [] : [{ resourceID: id, health }]
          }),
        }))
        // What no plugin has reported yet stays as it was last reported.
        .filter(({ resources }) => resources.length > 0)
    )
  }

  #places(pod: Pod): readonly DevicePlace[] {
    const { uid } = pod.metadata
    return allContainers(pod).flatMap(({ container: { name } }) =>
      [...this.#deps.assignments.ofContainer(uid, name).keys()].map((resource) => ({ uid, container: name, resource })),
    )
  }

  #isThere(place: DevicePlace, startsAgain: boolean): boolean {
    const devices = this.#deps.assignments.get(place)
    return devices === undefined || (devices.kind === 'given' && (devices.isConfirmed || !startsAgain))
  }

  #begin(request: EnsureRequest): { readonly done: Promise<void>; readonly scope: AbortScope } {
    const { tasks } = this.#deps
    const { uid } = request.pod.metadata
    const scope = new AbortScope(tasks.signal)
    const { promise: done, resolve, reject } = Promise.withResolvers<void>()
    // Callers that wait see a failure; there may be none.
    done.catch(() => {})
    tasks.run(`devices of pod ${uid}`, async (shutdown) => {
      using _ = scope
      try {
        await this.#ensure(request, scope.signal)
        resolve()
      } catch (error) {
        // A pod that ends because of this needs no other devices either; they are free before its end is reported.
        if (error instanceof InjectionsError && error.end !== undefined) this.#deps.assignments.release(uid)
        reject(error)
        shutdown.throwIfAborted()
      } finally {
        if (this.#allocating.get(uid)?.done === done) this.#allocating.delete(uid)
      }
    })
    return { done, scope }
  }

  async #ensure({ pod, startsAgain, noteStep }: EnsureRequest, signal: AbortSignal): Promise<void> {
    for (const place of this.#places(pod)) {
      if (this.#isThere(place, startsAgain)) continue
      const plugin = await this.#waitForPlugin(place.resource, { pod, noteStep }, signal)
      const devices = this.#deps.assignments.get(place)
      if (devices === undefined) continue
      this.#checkHealth(place, devices.ids)
      if (devices.kind === 'given') this.#deps.assignments.set(place, { ...devices, isConfirmed: true })
      else await this.#give(place, { plugin, noteStep }, signal)
    }
    await this.#record()
  }

  async #record(): Promise<void> {
    try {
      await this.#deps.record()
    } catch (error) {
      throw new InjectionsError('Cannot record which devices the pod has', { cause: error })
    }
  }

  /** A plugin that is on its way is waited for; one that is not expected any more is the end of the pod. */
  async #waitForPlugin(
    resource: string,
    { pod, noteStep }: Pick<EnsureRequest, 'pod' | 'noteStep'>,
    signal: AbortSignal,
  ): Promise<DevicePluginCalls> {
    const { inventory, events, clock } = this.#deps
    const wait = async (until: AbortSignal) => {
      for (;;) {
        const plugin = inventory.plugin(resource)
        if (plugin !== undefined && inventory.isReady(resource)) return plugin
        if (!inventory.knows(resource)) throw end(`cannot allocate unregistered device ${resource}`)
        await inventory.nextChange(until)
      }
    }
    if (inventory.isReady(resource)) return await wait(signal)
    const message = `Waiting up to ${RETURN_MS / 1000}s for the device plugin of ${resource} to register again`
    events.record(pod, { type: 'Warning', reason: 'DevicePluginNotRegistered', message })
    try {
      const what = `the return of device plugin "${resource}"`
      return await noteStep(`wait for device plugin "${resource}"`, () =>
        withDeadline({ clock, ms: RETURN_MS, what }, wait, signal),
      )
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error
      throw end(notBack(resource))
    }
  }

  #checkHealth({ resource }: DevicePlace, ids: readonly string[]): void {
    const devices = this.#deps.inventory.devices(resource)
    if (ids.every((id) => devices.get(id)?.isHealthy === true)) return
    throw end(`previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`)
  }

  async #give(
    place: DevicePlace,
    { plugin, noteStep }: { readonly plugin: DevicePluginCalls; readonly noteStep: NoteStep },
    signal: AbortSignal,
  ): Promise<void> {
    const { assignments, inventory, metrics, clock } = this.#deps
    const { resource, container } = place
    const step = `devices "${resource}" of container "${container}" from their plugin`
    await noteStep(step, async () => {
      await applyPreference(this.#deps, { place, plugin }, signal)
      const ids = assignments.get(place)?.ids ?? []
      // From now on the plugin may use them: they are not exchanged any more.
      assignments.set(place, { kind: 'reserved', ids, open: { fixed: ids, nodes: undefined } })
      const begun = clock.monotonic()
      try {
        const response = await plugin.allocate(ids, signal)
        const byNode = groupByNode(ids, inventory.devices(resource))
        signal.throwIfAborted()
        assignments.set(place, { kind: 'given', ids, byNode, response, isConfirmed: true })
      } catch (error) {
        if (!(error instanceof DevicePluginError)) throw error
        throw error.isAway ? new InjectionsError(error.message, { cause: error }) : end(error.detail, error)
      } finally {
        metrics.devicesAllocated(resource, (clock.monotonic() - begun) / 1000)
      }
    })
  }

  async #preStart(place: DevicePlace, noteStep: NoteStep, signal: AbortSignal): Promise<void> {
    const { inventory, assignments } = this.#deps
    const { resource, container } = place
    if (!inventory.needsPreStart(resource)) return
    const plugin = inventory.plugin(resource)
    if (plugin === undefined)
      throw new Error(`Cannot prepare devices "${resource}" of container "${container}": their plugin is away`)
    const ids = assignments.get(place)?.ids ?? []
    await noteStep(`device plugin "${resource}" prepares container "${container}"`, () => plugin.preStart(ids, signal))
  }
}

function notBack(resource: string): string {
  return `no healthy devices present; cannot allocate unhealthy devices ${resource}`
}

function end(why: string, cause?: unknown): InjectionsError {
  const message = `Allocate failed due to ${why}, which is unexpected`
  return new InjectionsError(message, { cause, end: { reason: 'UnexpectedAdmissionError', message } })
}
