import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

test('a field that is not honoured is told, and refuses the pod where ignoring it would harm', async () => {
  await using node = await TestNode.start()
  const { manifests } = node.lab
  await manifests.write('data', testPod('data', { volumes: [{ name: 'data', emptyDir: {} }] }))
  await manifests.write('choosy', testPod('choosy', { nodeSelector: { disk: 'fast' } }))

  const refused = await node.podIs('data', 'Failed', ({ status }) => status?.phase === 'Failed')
  assert.equal(refused.status?.reason, 'UnsupportedField')
  assert.match(refused.status?.message ?? '', /^Pod was rejected: spec\.volumes\[0\]: volumes are not supported yet/)
  await node.logged('"event"', 'default/data-lab', 'reason="UnsupportedField"', 'Refused spec.volumes[0]')
  await node.ready('choosy')
  await node.logged('default/choosy-lab', 'reason="UnsupportedField"', 'Ignored spec.nodeSelector')
  assert.deepEqual(await node.containers('data'), [])

  // Corrected in the same file, it runs.
  await manifests.write('data', testPod('data'))
  await node.ready('data')
})
