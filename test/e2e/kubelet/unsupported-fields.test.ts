import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

test('a field that is not honoured is reported, and the pod is rejected where ignoring it would harm', async () => {
  await using node = await TestNode.start({ config: { featureGates: { ContainerStopSignals: false } } })
  const { manifests } = node.lab
  await manifests.write('mapped', testPod('mapped', { hostUsers: false }))
  await manifests.write('choosy', testPod('choosy', { nodeSelector: { disk: 'fast' } }))
  const lifecycle = { stopSignal: 'SIGUSR1' }
  const containers = [testContainer('main', scripts.obedient, { lifecycle })]
  await manifests.write('signalled', testPod('signalled', { os: { name: 'linux' }, containers }))

  const rejected = await node.podIs('mapped', 'Failed', ({ status }) => status?.phase === 'Failed')
  assert.equal(rejected.status?.reason, 'UnsupportedField')
  assert.match(
    rejected.status?.message ?? '',
    /^Pod was rejected: spec\.hostUsers: the container runtime does not support user namespaces/,
  )
  await node.logged('"event"', 'default/mapped-lab', 'reason="UnsupportedField"', 'Rejected spec.hostUsers')
  await node.ready('signalled')
  await node.logged('default/signalled-lab', 'reason="UnsupportedField"', 'Ignored spec.containers[0].lifecycle')
  const choosy = await node.podIs('choosy', 'Failed', ({ status }) => status?.phase === 'Failed')
  assert.equal(choosy.status?.reason, 'NodeAffinity')
  assert.deepEqual(await node.containers('mapped'), [])

  // Corrected in the same file, it runs.
  await manifests.write('mapped', testPod('mapped'))
  await node.ready('mapped')
})
