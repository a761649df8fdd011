import { TaskGroup } from '../../src/base/async/task-group.ts'
import type { PodEvent } from '../../src/model/events/pod-events.ts'
import type { PersistentVolume, PersistentVolumeSpec } from '../../src/model/generated/core-v1.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createPodObjects } from '../../src/pods/objects/pod-objects.ts'
import { CsiKind } from '../../src/pods/volumes/kinds/csi.ts'
import type { VolumesDeps } from '../../src/pods/volumes/volumes.ts'
import type { VolumeSource } from '../../src/pods/volumes/desired-volume.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { DRIVER, FakeCsiNode, ROOT } from '../fakes/fake-csi-node.ts'
import { FakeObjectApi } from '../fakes/fake-object-api.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { createVolumes } from './create-volumes.ts'

/** The persistent volume "pv-<handle>", bound to the claim "shop/<handle>". */
export function createCsiVolume(handle: string, spec: Partial<PersistentVolumeSpec> = {}): PersistentVolume {
  return {
    metadata: { name: `pv-${handle}` },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      csi: { driver: DRIVER, volumeHandle: handle },
      ...spec,
    },
  }
}

/** An agent on a node with a CSI driver. A claim in a pod leads to the persistent volume "pv-<name of the claim>". */
export function createCsiAgent(
  node = new FakeCsiNode(),
  persistent: ReadonlyMap<string, PersistentVolume> = new Map(),
  parts: Partial<VolumesDeps> = {},
) {
  const clock = new FakeClock()
  const shutdown = new AbortController()
  const group = new TaskGroup(shutdown.signal)
  const api = new FakeObjectApi(clock)
  const volumeOf = (name: string) => persistent.get(name) ?? createCsiVolume(name)
  const events: string[] = []
  const owned: string[] = []
  const exceeded: string[] = []
  const record = (_: Pod, { type, reason, message, about }: PodEvent) =>
    void events.push(`${type} ${reason} ${message}${about === undefined ? '' : ` (${about.kind} ${about.name})`}`)
  const kind = new CsiKind({
    rootDirectory: ROOT,
    nodeName: 'node-1',
    toDriverPath: (path) => path,
    drivers: node.drivers,
    driverObjects: node.driverObjects,
    attachments: node.attachments,
    controllerAttaches: true,
    objects: createPodObjects({
      api,
      strategy: 'Get',
      syncFrequencyMs: 60_000,
      nodeTtlMs: () => undefined,
      onChange: () => {},
      tasks: group,
      clock,
      log: silentLogger,
      random: () => 0,
    }),
    csiFiles: node.csiFiles,
    mounter: node.mounter,
    devices: node.devices,
    deviceFiles: node.deviceFiles,
    describePath: async (real) => ({ kind: 'blockDevice', real, group: 0 }),
    guarded: {
      setOwnership: async ({ root, group: gid, onlyOnRootMismatch }) => {
        owned.push(`${root} ${gid} ${onlyOnRootMismatch}`)
        return { entries: 1, failed: 0 }
      },
    },
    onLimitExceeded: (_, driver, message) => void exceeded.push(`${driver} ${message}`),
    onInUse: () => node.report(kind.inUse()),
    events: { record },
    group,
    clock,
    log: silentLogger,
  })
  const agent = createVolumes(
    {
      rootDirectory: ROOT,
      kinds: [kind],
      findSource: async (_, { volume }): Promise<VolumeSource> => {
        const name = volume.persistentVolumeClaim?.claimName
        if (name === undefined) return { kind: 'inline', volume }
        return { kind: 'persistent', volume: volumeOf(name), claim: { namespace: 'shop', name } }
      },
      mounter: node.mounter,
      folders: node.folders,
      events: { record },
      clock,
      log: silentLogger,
      ...parts,
    },
    undefined,
    { clock, group, shutdown },
  )
  return {
    ...agent,
    node,
    kind,
    api,
    events,
    owned,
    exceeded,
    /** Puts claim and volume into the API too. */
    putClaim: (name: string, capacity: string, status: object = {}) => {
      api.put('PersistentVolumeClaim', {
        metadata: { namespace: 'shop', name },
        spec: { accessModes: ['ReadWriteOnce'] },
        status: { capacity: { storage: capacity }, ...status },
      })
      api.put('PersistentVolume', volumeOf(name))
    },
    uid: parsePodUid,
  }
}
