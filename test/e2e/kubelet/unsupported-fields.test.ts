import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuntimeFeatures } from '../../../src/model/pod/runtime-features.ts'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { scripts, testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

/** What a pod can ask for and this runtime cannot do; undefined when it can do all. */
function findUnsupported({ handlers, imageVolumes }: RuntimeFeatures) {
  if (handlers.get('')?.userNamespaces !== true)
    return {
      spec: { hostUsers: false },
      reason:
        'spec.hostUsers: the container runtime does not support user namespaces; containerd does from 2.0 on, CRI-O from 1.25 on, Docker has none for single pods',
    }
  if (imageVolumes === 'parts') return undefined
  const volumeMounts = [{ name: 'data', mountPath: '/data', subPath: 'etc' }]
  return {
    spec: {
      volumes: [{ name: 'data', image: { reference: BUSYBOX_IMAGE } }],
      containers: [testContainer('main', scripts.obedient, { volumeMounts })],
    },
    reason: 'spec.containers[0].volumeMounts: the container runtime can mount images only whole',
  }
}

test('a field that is not honoured is reported, and the pod is rejected where ignoring it would harm', async (t) => {
  await using node = await TestNode.start({ config: { featureGates: { ContainerStopSignals: false } } })
  const { manifests } = node.lab
  const asked = findUnsupported(await node.features())
  if (asked === undefined) return t.skip('not applicable: this runtime can do all of it')
  await manifests.write('mapped', testPod('mapped', asked.spec))
  await manifests.write('choosy', testPod('choosy', { nodeSelector: { disk: 'fast' } }))
  const lifecycle = { stopSignal: 'SIGUSR1' }
  const containers = [testContainer('main', scripts.obedient, { lifecycle })]
  await manifests.write('signalled', testPod('signalled', { os: { name: 'linux' }, containers }))

  const rejected = await node.podIs('mapped', 'Failed', ({ status }) => status?.phase === 'Failed')
  assert.equal(rejected.status?.reason, 'UnsupportedField')
  const message = rejected.status.message ?? ''
  assert.ok(message.startsWith(`Pod was rejected: ${asked.reason}`), message)
  const [path = ''] = asked.reason.split(':')
  await node.logged('"event"', 'default/mapped-lab', 'reason="UnsupportedField"', `Rejected ${path}`)
  await node.ready('signalled')
  await node.logged('default/signalled-lab', 'reason="UnsupportedField"', 'Ignored spec.containers[0].lifecycle')
  const choosy = await node.podIs('choosy', 'Failed', ({ status }) => status?.phase === 'Failed')
  assert.equal(choosy.status?.reason, 'NodeAffinity')
  assert.deepEqual(await node.containers('mapped'), [])

  // Corrected in the same file, it runs.
  await manifests.write('mapped', testPod('mapped'))
  await node.ready('mapped')
})
