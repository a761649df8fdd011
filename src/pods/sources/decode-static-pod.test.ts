import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../model/pod/pod.ts'
import { decodeStaticPods } from './decode-static-pod.ts'
import type { StaticPodOrigin } from './decode-static-pod.ts'

const FILE: StaticPodOrigin = { kind: 'file', path: '/etc/kubernetes/manifests/web.yaml' }

function decode(options: { metadata?: object; spec?: object; origin?: StaticPodOrigin; nodeName?: string } = {}): Pod {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', ...options.metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...options.spec },
  }
  const settings = { nodeName: options.nodeName ?? 'n1', refuseApiReferences: true }
  const { pods } = decodeStaticPods(Buffer.from(JSON.stringify(manifest)), options.origin ?? FILE, settings)
  assert.ok(pods[0])
  return pods[0]
}

describe('decodeStaticPods()', () => {
  test('takes several documents of a file, and refuses all of it for a mistake in one, at its line', () => {
    const pod = (name: string, image: string) =>
      `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: ${image}}]}\n`
    const decode = (...documents: string[]) =>
      decodeStaticPods(Buffer.from(documents.join('---\n')), FILE, { nodeName: 'n', refuseApiReferences: false })
    const { pods } = decode('# first\n', pod('a', 'x'), pod('b', 'z'))
    assert.deepEqual(
      pods.map(({ metadata }) => metadata.name),
      ['a-n', 'b-n'],
    )
    assert.notEqual(pods[0]?.metadata.uid, pods[1]?.metadata.uid)
    assert.throws(() => decode(pod('a', 'x'), pod('b', '5')), /: 9:\d+ spec\.containers\[0\]\.image: Invalid value: 5/)
  })

  test('gives a pod its identity on this node', () => {
    const { metadata, spec, status } = decode({ metadata: { annotations: { a: 'b' } } })
    assert.match(metadata.uid, /^[0-9a-f]{32}$/)
    assert.deepEqual(metadata, {
      name: 'web-n1',
      namespace: 'default',
      uid: metadata.uid,
      annotations: { a: 'b', 'kubernetes.io/config.hash': metadata.uid },
    })
    assert.equal(spec.nodeName, 'n1')
    assert.deepEqual(spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }])
    assert.deepEqual(status, { phase: 'Pending' })
  })

  test('keeps a UID and a namespace that the manifest has', () => {
    const { metadata } = decode({ metadata: { uid: 'my-uid', namespace: 'kube-system' } })
    assert.equal(metadata.uid, 'my-uid')
    assert.equal(metadata.namespace, 'kube-system')
    assert.equal(metadata.annotations?.['kubernetes.io/config.hash'], 'my-uid')
  })

  test('makes the UID of content, node and place, and of nothing else', () => {
    const { uid } = decode().metadata
    assert.equal(decode().metadata.uid, uid)
    const others = [
      decode({ spec: { hostPID: true } }),
      decode({ nodeName: 'n2' }),
      decode({ origin: { kind: 'file', path: '/other' } }),
      decode({ origin: { kind: 'http', url: 'http://x/' } }),
    ]
    assert.equal(new Set([uid, ...others.map(({ metadata }) => metadata.uid)]).size, 5)
  })

  test('replaces a shorter toleration, and adds none to a pod of a URL', () => {
    const tolerations = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }]
    assert.deepEqual(decode({ spec: { tolerations } }).spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }])
    assert.equal(decode({ origin: { kind: 'http', url: 'http://x/' } }).spec.tolerations, undefined)
  })
})
