import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPod } from '../../../../../test/builders/create-pod.ts'
import { createDesiredVolume } from '../../../../../test/builders/create-desired-volume.ts'
import { computePublishContext } from './compute-publish-context.ts'
import { toCsiVolume } from '../to-csi-volume.ts'

const volume = toCsiVolume(createDesiredVolume({ csi: { driver: 'd', volumeAttributes: { size: '1' } } }))
const input = {
  volume,
  pod: createPod({ spec: { serviceAccountName: 'robot' } }),
  podInfoOnMount: false,
  tokens: new Map([
    ['vault', { token: 'v', expirationTimestamp: '2026-01-01T00:00:00Z' }],
    ['', { token: 'a', expirationTimestamp: '2026-01-01T01:00:00Z' }],
  ]),
  tokensInSecrets: false,
  secrets: { key: 'x' },
}
const tokens =
  '{"":{"token":"a","expirationTimestamp":"2026-01-01T01:00:00Z"},"vault":{"token":"v","expirationTimestamp":"2026-01-01T00:00:00Z"}}'
const field = 'csi.storage.k8s.io/serviceAccount.tokens'

test('computePublishContext() has the pod only where that is wanted', () => {
  assert.deepEqual(computePublishContext({ ...input, tokens: new Map(), podInfoOnMount: true }), {
    volumeContext: {
      size: '1',
      'csi.storage.k8s.io/pod.name': 'web',
      'csi.storage.k8s.io/pod.namespace': 'shop',
      'csi.storage.k8s.io/pod.uid': 'u-1',
      'csi.storage.k8s.io/serviceAccount.name': 'robot',
      'csi.storage.k8s.io/ephemeral': 'true',
    },
    secrets: { key: 'x' },
  })
})

test('computePublishContext() has tokens in the context, or among the secrets', () => {
  assert.deepEqual(computePublishContext(input), {
    volumeContext: { size: '1', [field]: tokens },
    secrets: { key: 'x' },
  })
  assert.deepEqual(computePublishContext({ ...input, tokensInSecrets: true }), {
    volumeContext: { size: '1' },
    secrets: { key: 'x', [field]: tokens },
  })
})
