import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { DriverCall } from '../../src/metrics/driver-metrics.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createVolumeHost } from '../../src/pods/volumes/create-volume-host.ts'
import { FakeCsiDriver } from '../fakes/fake-csi-driver.ts'
import { FakeObjectApi } from '../fakes/fake-object-api.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { createCluster, CSI_LOOPS, joinCluster } from './create-cluster.ts'
import { createWorld } from './create-world.ts'

const never = new AbortController().signal

/** An agent whose volumes are on a real disk, with drivers behind real sockets and CSIDriver objects in a real API. */
export async function createCsiWorld(
  t: TestContext,
  options: { readonly driver: string; readonly attachRequired?: boolean; readonly root?: string },
) {
  const { driver: name, attachRequired = false, root = makeTemporaryFolder() } = options
  const sockets = join(root, 'plugins_registry')
  mkdirSync(sockets, { recursive: true })
  const world = await createWorld()
  const { clock } = world
  let leave = () => Promise.resolve()
  t.after(async () => {
    await leave()
    await world[Symbol.asyncDispose]()
  })
  const cluster = await createCluster(t, world)
  await cluster.ask('POST', '/apis/storage.k8s.io/v1/csidrivers', {
    body: { metadata: { name }, spec: { attachRequired, volumeLifecycleModes: ['Persistent', 'Ephemeral'] } },
  })
  const api = new FakeObjectApi(clock)
  const calls: DriverCall[] = []
  const counted: string[] = []
  const agent = await joinCluster(world, cluster, {
    root,
    loops: CSI_LOOPS,
    objects: api,
    openVolumes: createVolumeHost,
    metrics: {
      csiCall: (call) => void calls.push(call),
      storageOperation: ({ plugin, operation, failed, isMigrated }) =>
        void counted.push(`${plugin} ${operation} ${failed}${isMigrated === true ? ' migrated' : ''}`),
    },
  })
  leave = () => agent.leave()
  const { csi: kind, volumes } = agent.kubelet.pods
  const steps: string[] = []
  const noteStep = async <T>(step: string, work: () => Promise<T>) => {
    steps.push(step)
    return await work()
  }
  return {
    root,
    clock,
    kind,
    volumes,
    leave,
    /** What the worker of a pod waits for, in order. */
    steps,
    /** Operations on volumes, as metrics show them. */
    counted,
    apiAnswers: agent.apiAnswers,
    ensure: (pod: Pod, signal = never) => volumes.ensure({ pod, noteStep }, signal),
    release: (uid: string) => volumes.release({ uid: parsePodUid(uid), noteStep }, never),
    /** What the cluster has of claims and volumes. */
    api,
    ask: cluster.ask,
    calls,
    /** The Node is another, and the watch reports it. */
    setNode: (labels: Readonly<Record<string, string>>, attached: readonly string[]) => {
      const volumesAttached = attached.map((one) => ({ name: one, devicePath: '' }))
      cluster.seeNode({
        metadata: { ...cluster.node().metadata, labels },
        status: { volumesInUse: kind.inUse() ?? [], volumesAttached },
      })
    },
    startDriver: async () => {
      const driver = await FakeCsiDriver.start(join(sockets, 'disk.sock'), {
        name,
        capabilities: ['STAGE_UNSTAGE_VOLUME'],
      })
      t.after(() => driver[Symbol.dispose]())
      return driver
    },
    /** Time passes until something is so; also that of the sockets, which is real. */
    passes: async (isSo: () => boolean) => {
      while (!isSo()) {
        await clock.advance(25)
        await setTimeout(1)
      }
    },
  }
}
