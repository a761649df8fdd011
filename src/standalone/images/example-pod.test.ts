import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePods } from '../../model/schema/decode-pods.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { examplePod } from './example-pod.ts'

test('the example pod is legal, and not ready before it answers on its port', () => {
  const { pods, warnings } = decodePods(Buffer.from(examplePod), {
    identify: (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, name: pod.metadata.name ?? '', namespace: 'default', uid: parsePodUid('u') },
    }),
    refuseApiReferences: true,
    allowList: false,
  })
  assert.deepEqual(warnings, [])
  const container = pods[0]?.spec.containers[0]
  assert.match(container?.command?.at(-1) ?? '', /httpd -f -p 8080/)
  assert.equal(container?.startupProbe?.httpGet?.port, 8080)
})
