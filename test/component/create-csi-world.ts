import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ShutdownError } from '../../src/base/async/abort-errors.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import type { DriverCall } from '../../src/metrics/driver-metrics.ts'
import type { Node } from '../../src/model/generated/core-v1.ts'
import { createCsi } from '../../src/node/csi/create-csi.ts'
import { PluginRegistrations } from '../../src/node/plugins/plugin-registrations.ts'
import { createPodObjects } from '../../src/pods/objects/pod-objects.ts'
import { findVolumeSource } from '../../src/pods/volumes/persistent-volumes/find-volume-source.ts'
import { CsiKind } from '../../src/pods/volumes/kinds/csi.ts'
import { createCsiFiles } from '../../src/system/directories/csi-files.ts'
import { createVolumeFolders } from '../../src/system/directories/volume-folders.ts'
import { createVolumes } from '../builders/create-volumes.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { FakeCsiDriver } from '../fakes/fake-csi-driver.ts'
import { FakeObjectApi } from '../fakes/fake-object-api.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { createCluster, follow } from './create-cluster.ts'

/** An agent's volumes on a real disk, with drivers behind real sockets and CSIDriver objects in a real API. */
export async function createCsiWorld(
  t: TestContext,
  options: { readonly driver: string; readonly attachRequired?: boolean; readonly root?: string },
) {
  const { driver: name, attachRequired = false, root = makeTemporaryFolder() } = options
  const sockets = join(root, 'plugins_registry')
  mkdirSync(sockets, { recursive: true })
  const clock = new FakeClock()
  const cluster = await createCluster(t, { clock })
  await cluster.ask('POST', '/apis/storage.k8s.io/v1/csidrivers', {
    body: { metadata: { name }, spec: { attachRequired } },
  })
  const shutdown = new AbortController()
  const group = new TaskGroup(shutdown.signal)
  t.after(async () => {
    shutdown.abort(new ShutdownError())
    await group.join()
  })
  const calls: DriverCall[] = []
  const api = new FakeObjectApi(clock)
  let node: Node = { metadata: { name: 'node-1', uid: cluster.nodeUid } }
  const listeners = new Set<() => void>()
  const csi = await createCsi({
    cluster: {
      client: cluster.client,
      follow: (objects, signal) => follow({ client: cluster.client, clock }, objects, signal),
      node: () => node,
      onApiReturn: () => {},
      onNode: (listener) => {
        listeners.add(listener)
        queueMicrotask(listener)
      },
    },
    nodeName: 'node-1',
    onChange: () => {},
    onDrivers: () => {
      agent.volumes.retry(kind.plugin)
      kind.retryNow()
    },
    metrics: { csiCall: (call) => void calls.push(call) },
    giveUp: (error) => assert.fail(error),
    clock,
    random: () => 0,
    log: silentLogger,
  })
  for (const { name, run } of csi.loops) group.run(name, run)
  const handlers = new Map([['CSIPlugin', csi.handler]])
  const plugins = new PluginRegistrations({ directory: sockets, handlers, clock, log: silentLogger })
  group.run('plugins', (s) => plugins.run(s))
  const nothingMounted = { table: async () => [], bind: async () => {}, unmount: async () => {} }
  const unused = () => assert.fail('only for block devices')
  const events = { record: () => {} }
  const objects = createPodObjects({
    api,
    strategy: 'Get',
    syncFrequencyMs: 60_000,
    nodeTtlMs: () => undefined,
    onChange: () => {},
    tasks: group,
    clock,
    log: silentLogger,
    random: () => 0,
  })
  const kind = new CsiKind({
    rootDirectory: root,
    nodeName: 'node-1',
    toDriverPath: (path) => path,
    drivers: csi.drivers,
    driverObjects: csi.objects,
    attachments: csi.attachments,
    controllerAttaches: true,
    objects,
    csiFiles: createCsiFiles({ rootDirectory: root }),
    mounter: nothingMounted,
    devices: { hold: unused, release: unused },
    deviceFiles: { makeFile: unused, removeFile: unused, makeLink: unused, removeLink: unused, removeIfEmpty: unused },
    describePath: unused,
    files: { setOwnership: unused },
    onLimitExceeded: unused,
    onInUse: () => {},
    events,
    group,
    clock,
    log: silentLogger,
  })
  const agent = createVolumes(
    {
      rootDirectory: root,
      kinds: [kind],
      findSource: (pod, used, signal) =>
        findVolumeSource(
          { objects, node: () => ({ name: 'node-1', labels: node.metadata?.labels ?? {} }) },
          { pod, used },
          signal,
        ),
      mounter: nothingMounted,
      folders: createVolumeFolders({ rootDirectory: root }),
      events,
    },
    undefined,
    { clock, group, shutdown },
  )
  await agent.volumes.adopt()
  return {
    ...agent,
    root,
    kind,
    /** What the cluster has of claims and volumes. */
    api,
    ask: cluster.ask,
    calls,
    /** The Node is another, and the watch reports it. */
    setNode: (labels: Readonly<Record<string, string>>, attached: readonly string[]) => {
      const volumesAttached = attached.map((one) => ({ name: one, devicePath: '' }))
      node = {
        metadata: { ...node.metadata, labels },
        status: { volumesInUse: kind.inUse() ?? [], volumesAttached },
      }
      for (const listener of listeners) listener()
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
