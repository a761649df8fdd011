import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { resolveFeatureGates } from '../../../src/model/config/gates/feature-gates.ts'
import { createProjections } from '../../../src/pods/volumes/payload/create-projections.ts'
import { createCertificate } from '../../builders/create-certificate.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { startSecuredApi } from '../api-server/start-secured-api.ts'
import { createHttpsKubeClient } from './https-kube-client.ts'

const BUNDLES = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles'
const never = new AbortController().signal

test('a node reads the trust bundles of its API, and is notified of new ones', async (t) => {
  const api = await startSecuredApi(t)
  const stop = new AbortController()
  const tasks = new TaskGroup(stop.signal)
  t.after(async () => {
    stop.abort(new Error('the test ends'))
    await tasks.join().catch(() => {})
  })
  const gates = resolveFeatureGates({ ClusterTrustBundle: true, ClusterTrustBundleProjection: true }).gates
  const deps = { client: createHttpsKubeClient(api, () => api.node), clock: systemClock, random: () => 0 }
  const { trustAnchors, podCertificate } = createProjections(
    { ...deps, gates, nodeName: 'node-1', nodeUid: () => undefined, events: { record() {} }, log: silentLogger },
    tasks,
  )
  assert.equal(podCertificate, undefined, 'its gate is off')
  const { certificatePem } = await createCertificate(Date.now(), 3_600_000)
  const create = async (name: string, spec: object) =>
    (await api.call(api.admin, 'POST', BUNDLES, { metadata: { name, labels: { live: 'yes' } }, spec })).status
  assert.equal(await create('own', { trustBundle: certificatePem }), 201)
  assert.equal(await create('bad', { trustBundle: 'words' }), 422)
  assert.equal(await create('bad', { trustBundle: certificatePem, signerName: 'example.com/a' }), 422)
  assert.equal((await api.call(api.node, 'POST', BUNDLES, { metadata: { name: 'x' } })).status, 403)

  assert.equal(await trustAnchors?.({ name: 'own', path: 'ca' }, never), certificatePem)
  const signed = { signerName: 'example.com/a', labelSelector: { matchLabels: { live: 'yes' } }, path: 'ca' }
  assert.equal(await trustAnchors?.(signed, never), '')
  assert.equal(await create('example.com:a:1', { trustBundle: certificatePem, signerName: 'example.com/a' }), 201)
  let found = ''
  while (found === '') {
    await setImmediate()
    found = (await trustAnchors?.(signed, never)) ?? ''
  }
  assert.equal(found, certificatePem)
})
