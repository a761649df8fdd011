import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createCsiVolume } from '../builders/create-csi-agent.ts'
import { createVolumePod } from '../builders/create-volumes.ts'
import type { FakeCsiDriver } from '../fakes/fake-csi-driver.ts'
import { until } from '../fakes/until.ts'
import { createCsiWorld } from './create-csi-world.ts'

const DRIVER = 'disk.example.com'
const pod = createVolumePod(['data'], { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'vol' } }] })

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
  const { ensure, release, startDriver, passes, steps, root, clock, api } = await createCsiWorld(t, { driver: DRIVER })
  const claimRef = { uid: 'claim' }
  api.put('PersistentVolume', createCsiVolume('vol', { capacity: {}, claimRef }))
  api.put('PersistentVolumeClaim', {
    metadata: { namespace: pod.metadata.namespace, name: 'vol', uid: 'claim' },
    spec: { volumeName: 'pv-vol' },
    status: { phase: 'Bound' },
  })
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
