import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

test('a field that is not honoured is told, and refuses the pod where ignoring it would harm', async () => {
  await using node = await TestNode.start()
  const { manifests } = node.lab
  await manifests.write('data', testPod('data', { volumes: [{ name: 'data', emptyDir: {} }] }))
  const fields = { terminationMessagePolicy: 'FallbackToLogsOnError' }
  const containers = [testContainer('main', scripts.obedient, fields)]
  await manifests.write('talkative', testPod('talkative', { containers }))

  const refused = await node.podIs('data', 'Failed', ({ status }) => status?.phase === 'Failed')
  assert.equal(refused.status?.reason, 'UnsupportedField')
  assert.match(refused.status?.message ?? '', /^Pod was rejected: spec\.volumes\[0\]: volumes are not supported yet/)
  await node.logged('"event"', 'default/data-lab', 'reason="UnsupportedField"', 'Refused spec.volumes[0]')
  await node.ready('talkative')
  const path = 'Ignored spec.containers[0].terminationMessagePolicy'
  await node.logged('default/talkative-lab', 'reason="UnsupportedField"', path)
  assert.deepEqual(await node.containers('data'), [])

  // Corrected in the same file, it runs.
  await manifests.write('data', testPod('data'))
  await node.ready('data')
})
