import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../model/pod/pod.ts'
import { formatManifestProblem, ManifestError } from '../../model/schema/manifest-error.ts'
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

  test('takes what stands on the line of a separator, and knows where it is', () => {
    const pod = (name: string, image: string) =>
      `--- {apiVersion: v1, kind: Pod, metadata: {name: ${name}}, spec: {containers: [{name: c, image: ${image}}]}}\n`
    const decode = (text: string) =>
      decodeStaticPods(Buffer.from(text), FILE, { nodeName: 'n', refuseApiReferences: false })
    const { pods } = decode(`${pod('a', 'x')}${pod('b', 'x')}--- # none\n${pod('c', 'x')}`)
    assert.deepEqual(
      pods.map(({ metadata }) => metadata.name),
      ['a-n', 'b-n', 'c-n'],
    )
    assert.throws(() => decode(pod('a', 'x') + pod('b', '5')), /: 2:84 spec\.containers\[0\]\.image: Invalid value: 5/)
  })

  const problemsOf = (text: string) => {
    try {
      decodeStaticPods(Buffer.from(text), FILE, { nodeName: 'n', refuseApiReferences: false })
    } catch (error) {
      assert.ok(error instanceof ManifestError)
      return error.problems.map(formatManifestProblem)
    }
    return []
  }

  test('parses none of too many documents', () => {
    const tooMany = 'document 501 starts here, expected at most 500 in a file'
    assert.deepEqual(problemsOf('a: 1\n---\n'.repeat(800_000)), [`1000:1 ${tooMany}`])
    assert.deepEqual(problemsOf('---\n'.repeat(2_000_000)), [`501:1 ${tooMany}`])
  })

  test('parses no further after ten problems, or after so much as one file may have', () => {
    const wrong = problemsOf('a: 1\n---\n'.repeat(400))
    assert.equal(wrong.length, 11)
    assert.deepEqual(wrong.slice(9), ['19:1 apiVersion: expected "v1", not null', '21:1 not read from here on'])
    const long = problemsOf(`${'- a\n'.repeat(40_000)}---\n`.repeat(30))
    assert.match(long.join('\n'), /^1:1 expected an object .*\n\d+:\d+ too many values\n80003:1 not read from here on$/)
    const list = `{"a": [${'1,'.repeat(300_000)}1]}\n---\n`
    assert.deepEqual(problemsOf(list.repeat(9)).slice(1), ['3:399998 too many values', '5:1 not read from here on'])
  })

  test('refuses text that is not UTF-8 also in one of several documents', () => {
    const text = Buffer.concat([Buffer.from('a: 1\n---\nb: 2\nc: '), Buffer.from([0xff])])
    const decode = () => decodeStaticPods(text, FILE, { nodeName: 'n', refuseApiReferences: false })
    assert.throws(decode, /; 4:4 not UTF-8 text/)
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
