import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePodUid } from '../pod/pod.ts'
import { decodePods } from './decode-pods.ts'
import type { DecodeOptions, DecodedManifest } from './decode-pods.ts'
import { ManifestError } from './manifest-error.ts'

const OPTIONS: DecodeOptions = {
  identify: (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, name: pod.metadata.name ?? '', namespace: 'default', uid: parsePodUid('u') },
  }),
  refuseApiReferences: true,
  allowList: true,
}

function decode(text: string, options = OPTIONS): DecodedManifest {
  return decodePods(Buffer.from(text), options)
}

function failureOf(text: string, options = OPTIONS): string {
  try {
    decode(text, options)
  } catch (error) {
    assert.ok(error instanceof ManifestError)
    return error.message.replace('Cannot use the manifest: ', '')
  }
  return 'no failure'
}

const HEAD = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n'
const POD = `${HEAD}spec:\n  containers:\n  - name: c\n    image: i\n`

describe('decodePods()', () => {
  test('reads a pod, complete and legal', () => {
    const { pods, warnings } = decode(POD)
    assert.equal(pods[0]?.spec.containers[0]?.terminationMessagePolicy, 'File')
    assert.deepEqual(warnings, [])
  })

  test('reads a list', () => {
    const item = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    const { pods } = decode(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [item('a'), item('b')] }))
    assert.deepEqual(
      pods.map(({ metadata }) => metadata.name),
      ['a', 'b'],
    )
  })

  test('names unknown fields of a pod that it refuses too: what is missing may be there under a wrong name', () => {
    assert.equal(
      failureOf(`${HEAD}spec:\n  containerz: []\n`),
      '5:1 spec.containers: Required value; 6:3 spec.containerz: unknown field, ignored, did you mean "containers"?',
    )
  })

  test('runs a pod with unknown fields and names each with its place', () => {
    const { pods, warnings } = decode(`${POD}    imge: x\n  zzzzzzz: 1\n`)
    assert.equal(pods.length, 1)
    assert.deepEqual(warnings, [
      { path: 'spec.containers[0].imge', rule: 'unknown field, ignored, did you mean "image"?', line: 9, column: 5 },
      { path: 'spec.zzzzzzz', rule: 'unknown field, ignored', line: 10, column: 3 },
    ])
  })

  const failures: readonly (readonly [string, string, string])[] = [
    [
      'another kind',
      'apiVersion: v1\nkind: Service\n',
      `2:1 kind: expected "Pod" or "PodList", not "Service": apply it to the API instead ("kubectl apply", or the folder of "deckhand up --apply")`,
    ],
    ['no kind', 'apiVersion: v1\n', '1:1 kind: expected "Pod" or "PodList", not null'],
    ['another version', 'kind: Pod\napiVersion: v2\n', '2:1 apiVersion: expected "v1", not "v2"'],
    ['a list of lists', '- a\n- b\n', '1:1 expected an object with apiVersion and kind'],
    ['plain text', 'hello', '1:1 expected an object with apiVersion and kind'],
    ['no name', 'apiVersion: v1\nkind: Pod\nmetadata: {}\n', '3:1 metadata.name: Required value'],
    ['no spec', HEAD, '1:1 spec.containers: Required value'],
    [
      'a wrong type',
      `${POD}    tty: often\n`,
      '9:5 spec.containers[0].tty: Invalid value: "often": expected true or false',
    ],
    [
      'several broken rules at once',
      `${POD}    imagePullPolicy: x\n  restartPolicy: z\n`,
      '9:5 spec.containers[0].imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"; 10:3 spec.restartPolicy: Unsupported value: "z": supported values: "Always", "Never", "OnFailure"',
    ],
    [
      'a UID that would leave its directory',
      POD.replace('name: a', 'name: a\n  uid: ../../x'),
      '5:3 metadata.uid: Invalid value: "../../x": must be 1 to 63 letters, digits and dashes',
    ],
    [
      'one bad pod of a list',
      '{"apiVersion": "v1", "kind": "PodList",\n"items": [{"metadata": {"name": "a"},\n"spec": {"containers": []}}]}',
      '3:10 items[0].spec.containers: Required value',
    ],
    [
      'a reference to the API',
      `${POD}  serviceAccountName: x\n`,
      '9:3 spec.serviceAccountName: Forbidden: static pods may not reference serviceaccounts',
    ],
  ]
  for (const [name, text, expected] of failures) {
    test(`refuses ${name}`, () => assert.equal(failureOf(text), expected))
  }

  test('refuses a list where one pod is expected', () => {
    const text = 'apiVersion: v1\nkind: PodList\nitems: []\n'
    assert.equal(failureOf(text, { ...OPTIONS, allowList: false }), '2:1 kind: expected "Pod", not "PodList"')
  })

  test('allows references to the API where there is one', () => {
    const { pods } = decode(`${POD}  serviceAccountName: x\n`, { ...OPTIONS, refuseApiReferences: false })
    assert.equal(pods.length, 1)
  })

  test('refuses claims of devices even there: none could be reserved for a static pod', () => {
    const text = `${POD}  resourceClaims: [{ name: gpu, resourceClaimName: gpu }]\n`
    const refused = failureOf(text, { ...OPTIONS, refuseApiReferences: false })
    assert.match(refused, /spec.resourceClaims: Forbidden: static pods may not reference resourceclaims/)
  })
})
