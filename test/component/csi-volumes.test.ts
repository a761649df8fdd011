import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ShutdownError } from '../../src/base/async/abort-errors.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { createCsi } from '../../src/node/csi/create-csi.ts'
import { createCsiFiles } from '../../src/system/directories/csi-files.ts'
import { createVolumeFolders } from '../../src/system/directories/volume-folders.ts'
import { createPodObjects } from '../../src/pods/objects/pod-objects.ts'
import { PluginRegistrations } from '../../src/node/plugins/plugin-registrations.ts'
import { CsiKind } from '../../src/pods/volumes/kinds/csi.ts'
import { createCsiVolume } from '../builders/create-csi-agent.ts'
import { createVolumePod, createVolumes } from '../builders/create-volumes.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { FakeCsiDriver } from '../fakes/fake-csi-driver.ts'
import { FakeObjectApi } from '../fakes/fake-object-api.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { until } from '../fakes/until.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { createCluster, follow } from './create-cluster.ts'

const DRIVER = 'disk.example.com'
const pod = createVolumePod(['data'], { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'vol' } }] })

/** An agent's volumes on a real disk, with drivers behind real sockets and CSIDriver objects in a real API. */
async function setUp(t: TestContext) {
  const root = makeTemporaryFolder()
  const sockets = join(root, 'plugins_registry')
  mkdirSync(sockets)
  const clock = new FakeClock()
  const cluster = await createCluster(t, { clock })
  await cluster.ask('POST', '/apis/storage.k8s.io/v1/csidrivers', {
    body: { metadata: { name: DRIVER }, spec: { attachRequired: false } },
  })
  const shutdown = new AbortController()
  const group = new TaskGroup(shutdown.signal)
  t.after(async () => {
    shutdown.abort(new ShutdownError())
    await group.join()
  })
  const csi = await createCsi({
    cluster: {
      client: cluster.client,
      follow: (objects, signal) => follow({ client: cluster.client, clock }, objects, signal),
      node: () => ({ metadata: { name: 'node-1', uid: cluster.nodeUid } }),
      onNode: (listener) => queueMicrotask(listener),
    },
    nodeName: 'node-1',
    onChange: () => {},
    onDrivers: () => {
      agent.volumes.retry(kind.plugin)
      kind.retryNow()
    },
    metrics: { csiCall: () => {} },
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
  const kind = new CsiKind({
    rootDirectory: root,
    nodeName: 'node-1',
    toDriverPath: (path) => path,
    drivers: csi.drivers,
    driverObjects: csi.objects,
    attachments: csi.attachments,
    controllerAttaches: true,
    objects: createPodObjects({
      api: new FakeObjectApi(clock),
      strategy: 'Get',
      syncFrequencyMs: 60_000,
      nodeTtlMs: () => undefined,
      onChange: () => {},
      tasks: group,
      clock,
      log: silentLogger,
      random: () => 0,
    }),
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
      findSource: async () => {
        const volume = createCsiVolume('vol', { capacity: {} })
        return { kind: 'persistent', volume, claim: { namespace: 'shop', name: 'vol' } }
      },
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
    startDriver: async () => {
      const driver = await FakeCsiDriver.start(join(sockets, 'disk.sock'), {
        name: DRIVER,
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

/** As the worker of a pod does: it reports the error and begins again. */
async function again(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    assert.match(String(error), /VolumesError/)
    await again(work)
  }
}

test('a pod whose driver is missing, restarts or hangs waits, says for what, and goes on as soon as it can', async (t) => {
  const { ensure, release, startDriver, passes, steps, root, clock } = await setUp(t)
  const missing = `driver name ${DRIVER} not found in the list of registered CSI drivers`
  let isThere = false
  const bringing = again(() => ensure(pod)).then(() => (isThere = true))
  await until(() => steps.at(-1) === `wait to mount volume "data" again: ${missing}`)
  const first = await startDriver()
  await passes(() => isThere)
  await bringing
  const calls = (driver: FakeCsiDriver) =>
    driver.calls.map(({ method }) => method).filter((method) => !/Get/.test(method))
  assert.deepEqual(calls(first), ['nodeStageVolume', 'nodePublishVolume'])

  first[Symbol.dispose]()
  let isGone = false
  const leaving = again(() => release('u-1')).then(() => (isGone = true))
  await passes(() => steps.at(-1) === `wait to unmount volume "data" again: ${missing}`)
  const second = await startDriver()
  second.hung.add('nodeUnpublishVolume')
  const step = `NodeUnpublishVolume of CSI driver ${DRIVER} for volume "pv-vol"`
  await passes(() => steps.at(-1) === step && calls(second).length === 1)
  second.hung.clear()
  // The call that hangs is given up.
  await clock.advance(120_000)
  await passes(() => isGone)
  await leaving
  assert.equal(existsSync(join(root, 'pods/u-1/volumes/kubernetes.io~csi')), false)
  const staging = join(root, 'plugins/kubernetes.io/csi', DRIVER)
  await passes(() => readdirSync(staging).length === 0)
  assert.deepEqual(calls(second), ['nodeUnpublishVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume'])
})
