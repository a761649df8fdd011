import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { diffLines } from '../../../src/page/client/actions/diff-lines.ts'
import { findController } from '../../../src/page/client/actions/find-controller.ts'
import { parseFileObjects } from '../../../src/page/client/actions/parse-file-objects.ts'
import { toCompared } from '../../../src/page/client/actions/to-compared.ts'
import { toNewPod } from '../../../src/page/client/actions/to-new-pod.ts'

describe('what is different between two texts', () => {
  const show = (before: string, after: string) =>
    diffLines(before, after).map((line) => (line === null ? '…' : `${line.mark}${line.text}`))

  test('is shown with some lines around it', () => {
    assert.deepEqual(show('a\nb\n', 'a\nb\n'), [])
    assert.deepEqual(show('', 'a\nb\n'), ['+a', '+b'])
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    const other = lines.with(10, 'changed').toSpliced(11, 0, 'added')
    assert.deepEqual(show(lines.join('\n'), other.join('\n')), [
      '…',
      ' line 7',
      ' line 8',
      ' line 9',
      '-line 10',
      '+changed',
      '+added',
      ' line 11',
      ' line 12',
      ' line 13',
      '…',
    ])
  })

  test('keeps what both have, however often it is there', () => {
    assert.deepEqual(show('x\nx\ny\nx\n', 'x\ny\nx\nx\n'), [' x', '-x', ' y', '+x', ' x'])
  })

  test('is all of it for texts that are too long to compare', () => {
    const text = (word: string) => Array.from({ length: 2001 }, (_, index) => `${word} ${index}`).join('\n')
    assert.equal(show(text('a'), text('b')).length, 4002)
  })
})

describe('a file that is applied', () => {
  const split = (text: string) =>
    parseFileObjects(text, (each) => parse(each, { version: '1.1', merge: true })).map(
      ({ apiVersion, kind, name, namespace }) => [apiVersion, kind, name, namespace].join(' '),
    )

  test('has several documents, and lists', () => {
    const text = `# a comment
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
--- # the next one
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
---
...
---
{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}}]}
`
    assert.deepEqual(split(text), ['v1 Namespace shop ', 'apps/v1 Deployment web shop', 'v1 Pod one '])
  })

  test('may have an object on the line of a separator', () => {
    const one = '{apiVersion: v1, kind: Pod, metadata: {name: one}}'
    assert.deepEqual(split(`--- ${one}\n---\t# none\n--- ${one}\n---\n`), ['v1 Pod one ', 'v1 Pod one '])
  })

  test('goes to the server as it is written', () => {
    const [object] = parseFileObjects('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: no}\n', parse)
    assert.match(object?.text ?? '', /x: no/)
  })

  test('says what is wrong, and where', () => {
    assert.throws(() => split('a: ['), /The text is no YAML: .*line 1/)
    assert.throws(() => split('apiVersion: v1\nkind: Pod\n---\nx: 1\n'), /Document 1 \(Pod\) has no metadata.name/)
    assert.throws(() => split('---\nx: 1\n'), /Document 2 is no object of Kubernetes: expected apiVersion and kind/)
    assert.throws(() => split(' '.repeat(4_000_000)), /at most 3145728 characters/)
  })
})

describe('a pod', () => {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'u', controller: true }]

  test('is known by its controller', () => {
    assert.deepEqual(findController({ metadata: { namespace: 'shop', ownerReferences } }), {
      kind: 'ReplicaSet',
      name: 'web-1',
      group: 'apps',
      resource: 'replicasets',
      canScale: true,
      path: '/apis/apps/v1/namespaces/shop/replicasets/web-1',
    })
    assert.equal(findController({ metadata: {} }), undefined)
    const unknown = [{ ...ownerReferences[0]!, kind: 'Thing' }]
    assert.equal(findController({ metadata: { ownerReferences: unknown } }), undefined)
  })

  test('is created again as it was asked for', () => {
    const mount = { name: 'kube-api-access-ab1cd', mountPath: '/var/run/secrets' }
    const data = { name: 'data', mountPath: '/data' }
    const made = toNewPod({
      metadata: {
        name: 'web',
        namespace: 'default',
        uid: 'u',
        resourceVersion: '5',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { app: 'web' },
      },
      spec: {
        nodeName: 'node-1',
        priority: 0,
        containers: [{ name: 'main', image: 'a', volumeMounts: [mount, data] }],
        volumes: [{ name: 'kube-api-access-ab1cd' }, { name: 'data', emptyDir: {} }],
      },
      status: { phase: 'Running' },
    })
    assert.deepEqual(JSON.parse(JSON.stringify(made)), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'main', image: 'a', volumeMounts: [data] }],
        volumes: [{ name: 'data', emptyDir: {} }],
      },
    })
  })

  test('is compared without what the API keeps for itself', () => {
    const metadata = { name: 'a', managedFields: [], resourceVersion: '1', generation: 2, uid: 'u' }
    assert.deepEqual(toCompared({ kind: 'Pod', apiVersion: 'v1', metadata, spec: {}, status: {} }), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: {},
    })
  })
})
