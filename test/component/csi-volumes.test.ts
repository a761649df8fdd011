import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ObjectError } from '../../src/pods/objects/object-api.ts'
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

test('a volume that needed the API while that was away is tried again as soon as the API answers', async (t) => {
  const { ensure, startDriver, passes, steps, clock, api, apiAnswers } = await createCsiWorld(t, { driver: DRIVER })
  await startDriver()
  const csi = { driver: DRIVER, nodePublishSecretRef: { name: 'key' } }
  const inline = createVolumePod(['data'], { volumes: [{ name: 'data', csi }] })
  api.put('Secret', { metadata: { namespace: inline.metadata.namespace, name: 'key' }, data: {} })
  api.failure = new ObjectError('Unavailable', 'connection refused')
  let isThere = false
  const bringing = again(() => ensure(inline)).then(() => (isThere = true))
  const tries = () => api.calls.filter((call) => call.startsWith('get Secret')).length
  while (tries() <= 8) {
    await clock.advance(2000)
    await setTimeout(1)
  }
  // It answers others and not this one: one more try, not one for each answer.
  const before = tries()
  for (let answers = 0; answers < 10; answers += 1) {
    apiAnswers()
    await clock.advance(100)
    await setTimeout(5)
  }
  assert.equal(tries() - before, 1)
  await clock.advance(200_000)
  await until(() => steps.at(-1)?.startsWith('wait to mount volume "data" again') === true)
  api.failure = undefined
  const back = clock.monotonic()
  apiAnswers()
  await passes(() => isThere)
  await bringing
  assert.ok(clock.monotonic() - back < 10_000, `after ${clock.monotonic() - back} ms`)
})
