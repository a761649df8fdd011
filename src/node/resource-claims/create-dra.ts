import type { Clock } from '../../base/async/clock.ts'
import type { Loop } from '../../base/async/loop.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { DynamicResourcesApi } from '../../pods/objects/dynamic-resources-api.ts'
import type { ResourceStatus } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Observer } from '../../pods/observe/observer.ts'
import type { PodInjections } from '../../pods/sync/start/pod-injections.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import { ClaimRecords } from './claim-records.ts'
import { computeClaimHealth } from './health/compute-claim-health.ts'
import { DRA_HEALTH_FILE } from './health/device-health-file.ts'
import { DeviceHealth } from './health/device-health.ts'
import type { DeviceName } from './health/device-health.ts'
import { DraDrivers } from './dra-drivers.ts'
import type { DraPlugin } from './dra-plugin.ts'
import { DRA_STATE_FILE } from './dra-state-file.ts'
import { PodClaims } from './pod-claims.ts'
import { SliceWipes } from './slice-wipes.ts'
import { watchDeviceHealth } from './health/watch-device-health.ts'
import type { DraMetrics } from '../../metrics/driver-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'

export interface CreateDraDeps {
  readonly settings: Pick<Settings, 'gates'>
  readonly files: { readonly state: StateFile; readonly health: StateFile }
  readonly membership: {
    /** Where claims are read; undefined without an API. */
    readonly dynamicResources: DynamicResourcesApi | undefined
    readonly podEvents: PodEvents
  }
  readonly observer: Pick<Observer, 'get'>
  readonly registry: Pick<PodRegistry, 'wake' | 'mayRun' | 'podOf' | 'activePods'>
  readonly metrics: DraMetrics
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** Devices that pods claim: their drivers, the prepared claims of pods, and the health of devices. */
export interface Dra {
  readonly claims: PodClaims
  /** Takes the plugins of drivers into use. */
  readonly drivers: DraDrivers
  /** What claims add to containers. */
  readonly injections: PodInjections
  readonly loops: readonly Loop[]
}

export async function createDra(deps: CreateDraDeps, group: TaskGroup): Promise<Dra> {
  const { settings, files, membership, observer, registry, metrics, clock, log } = deps
  const { gates } = settings
  const { dynamicResources: api } = membership
  const records = await ClaimRecords.load({ file: files.state, log })
  await records.save().catch((error: unknown) => log.warn('cannot write the record of claims', { error }))
  const wipes =
    api &&
    new SliceWipes({
      ...deps,
      tasks: group,
      pauses: api.pauses,
      deleteSlices: (driver, s) => api.deleteSlices(driver, s),
    })
  const health = gates.enabled('ResourceHealthStatus')
    ? await DeviceHealth.load({ ...deps, file: files.health })
    : undefined
  const wakePodsWith = (changed: readonly DeviceName[]) => {
    for (const { driver, poolName, deviceName } of changed)
      for (const uid of claims.podsWith(driver, (each) => each.poolName === poolName && each.deviceName === deviceName))
        registry.wake(uid)
  }
  const drivers: DraDrivers = new DraDrivers({
    clock,
    log,
    tasks: group,
    onCall: (call) => metrics.draCall(call),
    onUsable: (driver) => {
      wipes?.usable(driver)
      for (const uid of claims.failedPods()) registry.wake(uid)
    },
    onUnusable: (driver) => {
      wipes?.unusable(driver)
      if (health !== undefined && drivers.find(driver) === undefined) wakePodsWith(health.clear(driver))
    },
    watchHealth:
      health &&
      ((plugin, s) =>
        watchDeviceHealth(
          { health, isLastOf: (each) => isNewest(drivers, each), onChange: wakePodsWith, clock, log },
          plugin,
          s,
        )),
  })
  const claims = new PodClaims({
    records,
    drivers,
    readClaim: async (key, s) => {
      if (api === undefined) throw new Error('this node has no API server')
      return await api.readClaim(key, s)
    },
    rules: {
      extendedResources: gates.enabled('DRAExtendedResource'),
      podGroups: gates.enabled('DRAWorkloadResourceClaims'),
    },
    mayRun: (uid) => registry.mayRun(uid),
    findPod: (uid) => registry.podOf(uid),
    wasStarted: (uid) => hasBegun(observer, uid),
    activePods: () => registry.activePods(),
    onOperation: (operation) => metrics.draOperation(operation),
    events: membership.podEvents,
    tasks: group,
    clock,
    log,
  })
  const withMessages = gates.enabled('ResourceHealthStatusMessage')
  wipes?.begin()
  return {
    claims,
    drivers,
    loops: [{ name: 'claims of pods', run: (s) => claims.run(s) }],
    injections: {
      ensure: (request, s) => claims.ensure(request, s),
      containerInjections: (request) => claims.containerInjections(request),
      rejectLost: () => undefined,
      health: (pod) => (health === undefined ? new Map() : listHealth({ claims, health, withMessages }, pod)),
      release: (request, s) => claims.release(request, s),
    },
  }
}

/** Another plugin of the same driver may be reporting the health of its devices. */
function isNewest(drivers: DraDrivers, plugin: DraPlugin): boolean {
  const found = drivers.find(plugin.driver)
  return found === undefined || found === plugin
}

function hasBegun(observer: Pick<Observer, 'get'>, uid: PodUid): boolean {
  return (observer.get(uid)?.sandboxes.length ?? 0) > 0
}

function listHealth(
  { claims, health, withMessages }: { claims: PodClaims; health: DeviceHealth; withMessages: boolean },
  pod: Pod,
): ReadonlyMap<string, readonly ResourceStatus[]> {
  return new Map(
    pod.spec.containers.flatMap((container) => {
      const lines = (container.resources?.claims ?? []).map((claim) => ({
        claim,
        devices: claims
          .usedBy(pod, { ...container, resources: { claims: [claim] } })
          .flatMap(({ devices }) => devices.map((device) => ({ ...device, ...health.get(device) }))),
      }))
      const statuses = computeClaimHealth(lines, withMessages)
      return statuses.length === 0 ? [] : [[container.name, statuses] as const]
    }),
  )
}

/** The files of claims in the root directory. */
export function createDraFiles(
  host: { stateFile(path: string): StateFile },
  rootDirectory: string,
): CreateDraDeps['files'] {
  const file = (name: string) => host.stateFile(`${rootDirectory}/${name}`)
  return { state: file(DRA_STATE_FILE), health: file(DRA_HEALTH_FILE) }
}
