import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { formatExactJson } from '../../../src/base/document/exact-json.ts'
import type { Api } from '../../../src/api-server/rest/create-api.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { call } from './api-client.ts'
import type { Answer, CallOptions } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'

const PODS = '/api/v1/namespaces/default/pods'
const MAPS = '/api/v1/namespaces/default/configmaps'

function podNamed(name: string, spec: object = {}): object {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }
}

interface World {
  readonly api: Api
  readonly clock: FakeClock
  readonly call: (method: string, target: string, body?: unknown, options?: CallOptions) => Promise<Answer>
  /** Fails when the answer is no success. */
  readonly must: (method: string, target: string, body?: unknown, options?: CallOptions) => Promise<Answer>
}

async function start(t: TestContext): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-verbs-'))
  const clock = new FakeClock()
  const server = await createTestApi({ folder, clock })
  t.after(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  const send = (method: string, target: string, body?: unknown, options: CallOptions = {}) =>
    call(server.api, method, target, { ...options, body })
  return {
    api: server.api,
    clock,
    call: send,
    async must(method, target, body, options) {
      const answer = await send(method, target, body, options)
      assert.ok(answer.status < 300, `${method} ${target}: ${answer.status} ${formatExactJson(answer.body)}`)
      return answer
    },
  }
}

function errorText({ status, body }: Answer): string {
  assert.equal(body.kind, 'Status')
  assert.equal(body.code, status)
  return `${status} ${body.reason}: ${body.message}`
}

describe('create', () => {
  test('fills what the server decides, and binds the pod to the node', async (t) => {
    const { must } = await start(t)
    const { status, body } = await must('POST', PODS, podNamed('a'))
    assert.equal(status, 201)
    const { uid, resourceVersion, managedFields, ...metadata } = body.metadata
    assert.deepEqual(
      managedFields.map(({ manager, operation }: { manager: string; operation: string }) => `${manager} ${operation}`),
      ['unknown Update'],
    )
    assert.match(uid, /^[0-9a-f-]{36}$/)
    assert.match(resourceVersion, /^\d+$/)
    assert.deepEqual(metadata, {
      name: 'a',
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
    })
    assert.deepEqual(
      [body.spec.nodeName, body.spec.restartPolicy, body.spec.serviceAccountName, body.spec.priority],
      ['node-1', 'Always', 'default', 0],
    )
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }
    assert.deepEqual(body.status, { phase: 'Pending', qosClass: 'BestEffort', conditions: [scheduled] })
  })

  test('makes names up', async (t) => {
    const { must } = await start(t)
    const names = await Promise.all(
      [1, 2, 3].map(
        async () => (await must('POST', MAPS, { metadata: { generateName: 'x-' } })).body.metadata.name as string,
      ),
    )
    for (const name of names) assert.match(name, /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.equal(new Set(names).size, 3)
  })

  const rejected: readonly (readonly [string, string, unknown, RegExp])[] = [
    [
      'a name that is taken',
      MAPS,
      { metadata: { name: 'taken' } },
      /^409 AlreadyExists: configmaps "taken" already exists$/,
    ],
    [
      'a namespace that is not there',
      '/api/v1/namespaces/x/configmaps',
      { metadata: { name: 'a' } },
      /^404 NotFound: namespaces "x" not found$/,
    ],
    [
      'another kind',
      MAPS,
      { kind: 'Secret', metadata: { name: 'a' } },
      /^400 BadRequest: the kind in the data \(Secret\)/,
    ],
    [
      'another version',
      MAPS,
      { apiVersion: 'v2', metadata: { name: 'a' } },
      /^400 BadRequest: the API version in the data \(v2\)/,
    ],
    [
      'another namespace',
      MAPS,
      { metadata: { name: 'a', namespace: 'x' } },
      /^400 BadRequest: the namespace of the provided object/,
    ],
    ['no name', MAPS, {}, /^422 Invalid: ConfigMap "" is invalid: metadata\.name: Required value/],
    [
      'a bad name',
      MAPS,
      { metadata: { name: 'A_B' } },
      /^422 Invalid: ConfigMap "A_B" is invalid: metadata\.name: Invalid value/,
    ],
    [
      'a wrong type',
      MAPS,
      { metadata: { name: 'a' }, data: { a: 1 } },
      /^400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: data\[a\]: Invalid value: 1: expected a string$/,
    ],
    ['no JSON', MAPS, '{"a":', /^400 BadRequest: the object provided is unrecognized/],
    [
      'a version',
      MAPS,
      { metadata: { name: 'a', resourceVersion: '5' } },
      /^400 BadRequest: resourceVersion should not be set/,
    ],
    [
      'a pod without containers',
      PODS,
      { metadata: { name: 'a' }, spec: {} },
      /^422 Invalid: Pod "a" is invalid: spec\.containers: Required value$/,
    ],
    [
      'an unknown priority class',
      PODS,
      podNamed('a', { priorityClassName: 'x' }),
      /^403 Forbidden: pods "a" is forbidden: no PriorityClass with name x was found$/,
    ],
    [
      'an unknown runtime class',
      PODS,
      podNamed('a', { runtimeClassName: 'x' }),
      /^403 Forbidden: .*RuntimeClass "x" not found$/,
    ],
    [
      'a secret without its keys',
      '/api/v1/namespaces/default/secrets',
      { metadata: { name: 'a' }, type: 'kubernetes.io/tls' },
      /^422 Invalid: .*data\[tls\.crt\]: Required value.*data\[tls\.key\]: Required value/,
    ],
    [
      'an integer of more than 64 bits',
      PODS,
      '{"metadata":{"name":"a"},"spec":{"terminationGracePeriodSeconds":9223372036854775808,"containers":[]}}',
      /^400 BadRequest: .*terminationGracePeriodSeconds: Invalid value: 9223372036854775808: expected a whole number of 64 bits/,
    ],
    [
      'a deadline of more than 32 bits',
      PODS,
      podNamed('a', { activeDeadlineSeconds: 9223372036854775807n }),
      /^422 Invalid: .*activeDeadlineSeconds: Invalid value: 9223372036854775807: must be between 1 and 2147483647/,
    ],
    [
      'a priority class of the system',
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      { metadata: { name: 'system-x' }, value: 1 },
      /^422 Invalid: .*belong to the system/,
    ],
  ]
  for (const [name, path, body, expected] of rejected) {
    test(`rejects ${name}`, async (t) => {
      const world = await start(t)
      await world.must('POST', MAPS, { metadata: { name: 'taken' } })
      assert.match(errorText(await world.call('POST', path, body)), expected)
    })
  }

  test('keeps integers of 64 bits exactly through every verb', async (t) => {
    const { call, must } = await start(t)
    const MAX = 9223372036854775807n
    const grace = 9007199254740993n
    const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: MAX }
    const sent = podNamed('a', { terminationGracePeriodSeconds: grace, tolerations: [toleration] })
    const kept = ({ body }: Answer) => [
      body.spec.terminationGracePeriodSeconds,
      body.spec.tolerations.find(({ key }: { key: string }) => key === 'a').tolerationSeconds,
    ]
    assert.deepEqual(kept(await must('POST', PODS, sent)), [grace, MAX])
    assert.deepEqual(kept(await must('GET', `${PODS}/a`)), [grace, MAX])
    const { body: list } = await must('GET', PODS)
    assert.deepEqual(kept({ body: list.items[0] } as Answer), [grace, MAX])
    const patch = { metadata: { labels: { x: 'y' } } }
    for (const kind of ['merge', 'strategic'])
      assert.deepEqual(kept(await must(`PATCH:${kind}`, `${PODS}/a`, patch)), [grace, MAX])
    const tests = [{ op: 'test', path: '/spec/terminationGracePeriodSeconds', value: grace }]
    assert.deepEqual(kept(await must('PATCH:json', `${PODS}/a`, tests)), [grace, MAX])
    const wrong = [{ ...tests[0], value: grace - 1n }]
    assert.equal((await call('PATCH:json', `${PODS}/a`, wrong)).status, 422)
    const { body: deleted } = await must('DELETE', `${PODS}/a`)
    assert.equal(deleted.metadata.deletionGracePeriodSeconds, grace)
    assert.match(deleted.metadata.deletionTimestamp, /^\d{4}-/)
    const { body: sooner } = await must('DELETE', `${PODS}/a?gracePeriodSeconds=9007199254740992`)
    assert.equal(sooner.metadata.deletionGracePeriodSeconds, 9007199254740992n)
  })

  test('reports every broken rule with its field', async (t) => {
    const { call } = await start(t)
    const { body } = await call(
      'POST',
      PODS,
      podNamed('a', { restartPolicy: 'x', containers: [{ name: 'C', image: '' }] }),
    )
    assert.deepEqual([body.details.name, body.details.kind], ['a', 'Pod'])
    assert.deepEqual(
      body.details.causes.map(({ reason, field }: { reason: string; field: string }) => `${field} ${reason}`),
      [
        'spec.containers[0].name FieldValueInvalid',
        'spec.containers[0].image FieldValueRequired',
        'spec.restartPolicy FieldValueNotSupported',
      ],
    )
  })

  test('unknown and doubled fields: an error, warnings or silence', async (t) => {
    const { call } = await start(t)
    const body = '{"metadata":{"name":"a","x":1},"data":{"k":"1","k":"2"},"extra":{}}'
    const strict = await call('POST', `${MAPS}?fieldValidation=Strict`, body)
    assert.equal(
      errorText(strict),
      '400 BadRequest: strict decoding error: unknown field "metadata.x", unknown field "extra", duplicate field "data.k"',
    )
    const warned = await call('POST', `${MAPS}?fieldValidation=Warn&dryRun=All`, body)
    assert.deepEqual(warned.headers['warning'], [
      '299 - "unknown field \\"metadata.x\\""',
      '299 - "unknown field \\"extra\\""',
      '299 - "duplicate field \\"data.k\\""',
    ])
    const silent = await call('POST', `${MAPS}?fieldValidation=Ignore`, body)
    assert.deepEqual([silent.status, silent.headers['warning'], silent.body.data], [201, undefined, { k: '2' }])
  })

  test('a dry run changes nothing', async (t) => {
    const { must, call } = await start(t)
    const { body } = await must('POST', `${MAPS}?dryRun=All`, { metadata: { name: 'a' } })
    assert.equal(body.metadata.name, 'a')
    assert.equal((await call('GET', `${MAPS}/a`)).status, 404)
    const made = await must('POST', MAPS, { metadata: { name: 'b' }, data: { x: '1' } })
    const same = await must('PUT', `${MAPS}/b?dryRun=All`, made.body)
    assert.deepEqual(same.body, made.body)
  })

  test('takes YAML, and keys that are called as the prototype', async (t) => {
    const { must } = await start(t)
    const yaml = 'metadata: {name: a}\ndata:\n  __proto__: x\n  constructor: z\n'
    await must('POST', MAPS, yaml, { type: 'application/yaml' })
    const { body } = await must('GET', `${MAPS}/a`)
    assert.deepEqual(Object.entries(body.data), [
      ['__proto__', 'x'],
      ['constructor', 'z'],
    ])
  })

  test('secrets: plain text is encoded, and never given back as text', async (t) => {
    const { must } = await start(t)
    const { body } = await must('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'a' },
      stringData: { p: 'hello' },
    })
    assert.deepEqual([body.data, body.stringData, body.type], [{ p: 'aGVsbG8=' }, undefined, 'Opaque'])
  })
})

describe('update', () => {
  test('needs the version that it was made from, if it names one', async (t) => {
    const { must, call } = await start(t)
    const { body: made } = await must('POST', MAPS, { metadata: { name: 'a' } })
    const { body: changed } = await must('PUT', `${MAPS}/a`, { ...made, data: { k: '1' } })
    assert.ok(Number(changed.metadata.resourceVersion) > Number(made.metadata.resourceVersion))
    const stale = await call('PUT', `${MAPS}/a`, { ...made, data: { k: '2' } })
    assert.match(
      errorText(stale),
      /^409 Conflict: Operation cannot be fulfilled on configmaps "a": the object has been modified/,
    )
    await must('PUT', `${MAPS}/a`, { metadata: { name: 'a' }, data: { k: '3' } })
    const other = await call('PUT', `${MAPS}/a`, { metadata: { name: 'a', uid: 'x' } })
    assert.match(errorText(other), /^409 Conflict: .*Precondition failed: UID/)
  })

  test('writes nothing when nothing is different', async (t) => {
    const { must } = await start(t)
    const { body: made } = await must('POST', PODS, podNamed('a', { hostNetwork: false }))
    const { body: same } = await must('PUT', `${PODS}/a`, made)
    assert.equal(same.metadata.resourceVersion, made.metadata.resourceVersion)
  })

  test("keeps what is not the writer's: uid, times, and the status", async (t) => {
    const { must } = await start(t)
    const { body: made } = await must('POST', PODS, podNamed('a'))
    const metadata = {
      name: 'a',
      labels: { x: 'y' },
      creationTimestamp: '2000-01-01T00:00:00Z',
      generation: 99,
      selfLink: 'x',
    }
    const { body } = await must('PUT', `${PODS}/a`, { ...made, metadata, status: { phase: 'Running' } })
    assert.deepEqual(body.status, made.status)
    assert.deepEqual(
      { ...body.metadata, resourceVersion: '', managedFields: [] },
      { ...made.metadata, labels: { x: 'y' }, resourceVersion: '', managedFields: [] },
    )
    // Only what was changed has got an owner.
    const [before, after] = [made, body].map(({ metadata: { managedFields } }) => managedFields[0].fieldsV1)
    assert.deepEqual(after, { ...before, 'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } } })
  })

  test('status: only the status and the metadata', async (t) => {
    const { must } = await start(t)
    const { body: made } = await must('POST', PODS, podNamed('a'))
    const sent = { ...made, spec: podNamed('a', { hostname: 'x' }), status: { phase: 'Running' } }
    const { body } = await must('PUT', `${PODS}/a/status`, { ...sent, spec: { ...made.spec, hostname: 'x' } })
    assert.deepEqual([body.spec.hostname, body.status.phase, body.metadata.generation], [undefined, 'Running', 1])
  })

  test('counts changes of the spec', async (t) => {
    const { must } = await start(t)
    await must('POST', PODS, podNamed('a'))
    const { body } = await must('PATCH:strategic', `${PODS}/a`, { spec: { containers: [{ name: 'c', image: 'j' }] } })
    assert.deepEqual([body.spec.containers[0].image, body.metadata.generation], ['j', 2])
  })

  test('a lease is made by the first update and needs a version after that', async (t) => {
    const { call, must } = await start(t)
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1'
    const lease = {
      metadata: { name: 'node-1' },
      spec: { holderIdentity: 'node-1', renewTime: '2026-01-01T00:00:00.000000Z' },
    }
    assert.equal((await must('PUT', path, lease)).status, 201)
    assert.match(
      errorText(await call('PUT', path, lease)),
      /^422 Invalid: .*metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
    )
  })

  const rows: readonly (readonly [string, string, string, string, unknown, RegExp])[] = [
    [
      "a pod's command",
      PODS,
      'PATCH:strategic',
      '',
      { spec: { containers: [{ name: 'c', command: ['x'] }] } },
      /^422 Invalid: Pod "a" is invalid: spec: Forbidden: only these fields/,
    ],
    [
      'another name',
      PODS,
      'PATCH:merge',
      '',
      { metadata: { name: 'b' } },
      /^400 BadRequest: the name of the object \(b\) does not match the name on the URL \(a\)$/,
    ],
    [
      'an apply without a manager',
      PODS,
      'PATCH',
      '',
      {},
      /^422 Invalid: .*fieldManager: Required value: is required for apply patch$/,
    ],
    [
      'a JSON patch that does not fit',
      PODS,
      'PATCH:json',
      '',
      [{ op: 'test', path: '/metadata/name', value: 'b' }],
      /^422 Invalid: .*failed$/,
    ],
    ['a subresource that is not there', PODS, 'PATCH:merge', '/scale', {}, /^404 NotFound/],
    ['a method that is not there', PODS, 'PUT', '/binding', {}, /^405 MethodNotAllowed/],
  ]
  for (const [name, path, method, subresource, body, expected] of rows) {
    test(`rejects ${name}`, async (t) => {
      const world = await start(t)
      await world.must('POST', path, podNamed('a'))
      const options = method === 'PATCH' ? { type: 'application/apply-patch+yaml' } : {}
      assert.match(errorText(await world.call(method, `${path}/a${subresource}`, body, options)), expected)
    })
  }

  test('resize changes cpu and memory only, and not the class of the pod', async (t) => {
    const { must, call } = await start(t)
    const resources = { requests: { cpu: '1' } }
    await must('POST', PODS, podNamed('a', { containers: [{ name: 'c', image: 'i', resources }] }))
    const patch = (requests: object) => ({
      spec: { containers: [{ name: 'c', image: 'other', resources: { requests } }] },
    })
    const { body } = await must('PATCH:strategic', `${PODS}/a/resize`, patch({ cpu: '2' }))
    assert.deepEqual(
      [body.spec.containers[0].resources.requests.cpu, body.spec.containers[0].image, body.metadata.generation],
      ['2', 'i', 2],
    )
    const rows: readonly (readonly [string, object, RegExp])[] = [
      [
        'another class',
        { spec: { containers: [{ name: 'c', resources: { requests: { cpu: null } } }] } },
        /QOS Class may not change/,
      ],
      [
        'a request that goes',
        { spec: { containers: [{ name: 'c', resources: { requests: { cpu: null, memory: '1Mi' } } }] } },
        /requests: Forbidden: resource requests cannot be removed/,
      ],
      ['another resource', patch({ 'example.com/x': '1' }), /only cpu and memory resources are mutable/],
      [
        'a limit below the request',
        { spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }] } },
        /must be less than or equal to cpu limit/,
      ],
      [
        'another policy',
        {
          spec: {
            containers: [{ name: 'c', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }],
          },
        },
        /only cpu and memory resources are mutable/,
      ],
      [
        'one more container',
        { spec: { containers: [{ name: 'd', image: 'i' }] } },
        /containers may not be added or removed on resize/,
      ],
    ]
    for (const [name, change, expected] of rows) {
      assert.match(errorText(await call('PATCH:strategic', `${PODS}/a/resize`, change)), expected, name)
    }
    const { body: same } = await must('GET', `${PODS}/a`)
    assert.deepEqual(same.spec, body.spec)
  })

  test('resize of a whole pod changes cpu and memory too, and takes nothing away', async (t) => {
    const { must, call } = await start(t)
    const containers = [{ name: 'c', image: 'i' }]
    await must('POST', PODS, podNamed('a', { containers, resources: { limits: { cpu: '1' } } }))
    const { body } = await must('PATCH:merge', `${PODS}/a/resize`, {
      spec: { resources: { limits: { cpu: '2' }, requests: { cpu: '1' } } },
    })
    assert.deepEqual([body.spec.resources.limits.cpu, body.metadata.generation], ['2', 2])
    assert.match(
      errorText(await call('PATCH:merge', `${PODS}/a/resize`, { spec: { resources: { limits: { cpu: null } } } })),
      /pod-level resource limits cannot be removed/,
    )
  })

  test('resize leaves pods of the node itself alone', async (t) => {
    const { must, call } = await start(t)
    const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }]
    const metadata = { name: 'a', annotations: { 'kubernetes.io/config.mirror': 'x' } }
    await must('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } })
    const change = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } }
    assert.match(errorText(await call('PATCH:strategic', `${PODS}/a/resize`, change)), /static pods cannot be resized/)
  })

  test('ephemeral containers can be added, not changed', async (t) => {
    const { must, call } = await start(t)
    await must('POST', PODS, podNamed('a'))
    const patch = (image: string) => ({ spec: { ephemeralContainers: [{ name: 'e', image }] } })
    await must('PATCH:strategic', `${PODS}/a/ephemeralcontainers`, patch('i'))
    assert.match(
      errorText(await call('PATCH:strategic', `${PODS}/a/ephemeralcontainers`, patch('j'))),
      /"e" cannot be changed/,
    )
    await must('PATCH:merge', `${PODS}/a`, { metadata: { labels: { x: 'y' } } })
  })

  test('immutable config maps stay as they are', async (t) => {
    const { must, call } = await start(t)
    await must('POST', MAPS, { metadata: { name: 'a' }, data: { k: '1' }, immutable: true })
    assert.match(
      errorText(await call('PATCH:merge', `${MAPS}/a`, { data: { k: '2' } })),
      /data: Forbidden: the object is immutable/,
    )
    await must('PATCH:merge', `${MAPS}/a`, { metadata: { labels: { a: 'b' } } })
  })

  test('certificate requests: the server says who asks; only approval decides', async (t) => {
    const { must, call } = await start(t)
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    const request = Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\nx').toString('base64')
    const spec = { request, signerName: 'kubernetes.io/kubelet-serving', usages: ['server auth'], username: 'liar' }
    const { body } = await must('POST', path, { metadata: { name: 'a' }, spec })
    assert.deepEqual([body.spec.username, body.spec.groups], ['admin', ['system:masters']])
    const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x' }] } }
    assert.match(
      errorText(await call('PATCH:merge', `${path}/a/status`, approved)),
      /only the approval subresource may decide/,
    )
    await must('PATCH:merge', `${path}/a/approval`, approved)
    const issued = await must('PATCH:merge', `${path}/a/status`, { status: { certificate: 'eA==' } })
    assert.equal(issued.body.status.certificate, 'eA==')
    assert.match(
      errorText(await call('PATCH:merge', `${path}/a/status`, { status: { certificate: 'eQ==' } })),
      /an issued certificate stays/,
    )
  })
})

describe('delete', () => {
  for (const path of [
    '/api/v1/namespaces/default/services/kubernetes',
    '/api/v1/namespaces/default/serviceaccounts/default',
  ])
    test(`the answer is about what was deleted, not about what was made in its place: ${path}`, async (t) => {
      const { must } = await start(t)
      const { uid, resourceVersion } = (await must('GET', path)).body.metadata
      const dry = (await must('DELETE', path, { dryRun: ['All'] })).body
      assert.deepEqual([dry.metadata.uid, dry.metadata.resourceVersion], [uid, resourceVersion])
      const { body } = await must('DELETE', path)
      assert.deepEqual([body.metadata.uid, body.metadata.deletionTimestamp], [uid, undefined])
      const next = (await must('GET', path)).body.metadata
      assert.notEqual(next.uid, uid)
      // The last finalizer goes by a patch, which is answered with what it left of the object.
      await must('PATCH:merge', path, { metadata: { finalizers: ['example.com/wait'] } })
      assert.ok((await must('DELETE', path)).body.metadata.deletionTimestamp)
      const freed = (await must('PATCH:merge', path, { metadata: { finalizers: null } })).body.metadata
      assert.equal(freed.uid, next.uid)
      const last = (await must('GET', path)).body.metadata.uid
      assert.notEqual(last, next.uid)
      const { body: list } = await must('DELETE', path.slice(0, path.lastIndexOf('/')))
      assert.deepEqual(
        list.items.map(({ metadata }: { metadata: { uid: string } }) => metadata.uid),
        [last],
      )
      assert.notEqual((await must('GET', path)).body.metadata.uid, last)
    })

  test('a pod gets its grace, which can only become shorter; the last deletion is at once', async (t) => {
    const { must, call } = await start(t)
    const { body: made } = await must('POST', PODS, podNamed('a'))
    const { body } = await must('DELETE', `${PODS}/a`)
    assert.deepEqual(
      [body.metadata.deletionTimestamp, body.metadata.deletionGracePeriodSeconds, body.metadata.generation],
      ['2026-01-01T00:00:30Z', 30, 2],
    )
    assert.equal(
      (await must('DELETE', `${PODS}/a`, { gracePeriodSeconds: 60 })).body.metadata.deletionGracePeriodSeconds,
      30,
    )
    assert.equal(
      (await must('DELETE', `${PODS}/a`, { gracePeriodSeconds: 5 })).body.metadata.deletionGracePeriodSeconds,
      5,
    )
    const wrong = await call('DELETE', `${PODS}/a`, { preconditions: { uid: 'x' }, gracePeriodSeconds: 0 })
    assert.match(errorText(wrong), /^409 Conflict: .*UID in precondition: x/)
    const gone = await must('DELETE', `${PODS}/a`, { gracePeriodSeconds: 0, preconditions: { uid: made.metadata.uid } })
    assert.deepEqual(
      [gone.body.kind, gone.body.metadata.uid, gone.body.metadata.deletionGracePeriodSeconds],
      ['Pod', made.metadata.uid, 0],
    )
    assert.equal(errorText(await call('GET', `${PODS}/a`)), '404 NotFound: pods "a" not found')
  })

  test('a pod that has ended, or has no node, needs no grace', async (t) => {
    const { must, call } = await start(t)
    await must('POST', PODS, podNamed('a'))
    await must('PATCH:merge', `${PODS}/a/status`, { status: { phase: 'Failed' } })
    assert.equal((await must('DELETE', `${PODS}/a`)).body.metadata.deletionGracePeriodSeconds, 0)
    await must('POST', PODS, podNamed('b', { schedulerName: 'other' }))
    assert.equal((await must('DELETE', `${PODS}/b`)).body.metadata.deletionGracePeriodSeconds, 0)
    assert.equal((await call('GET', `${PODS}/b`)).status, 404)
  })

  test('finalizers are waited for; none can be added then', async (t) => {
    const { must, call } = await start(t)
    await must('POST', MAPS, { metadata: { name: 'a', finalizers: ['example.com/x', 'example.com/y'] } })
    assert.equal((await must('DELETE', `${MAPS}/a`)).body.metadata.deletionTimestamp, '2026-01-01T00:00:00Z')
    const more = await call('PATCH:json', `${MAPS}/a`, [
      { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/z' },
    ])
    assert.match(errorText(more), /being deleted, so none can be added: example\.com\/z/)
    await must('PATCH:merge', `${MAPS}/a`, { metadata: { finalizers: ['example.com/y'] } })
    await must('PATCH:merge', `${MAPS}/a`, { metadata: { finalizers: [] } })
    assert.equal((await call('GET', `${MAPS}/a`)).status, 404)
  })

  const owned = (uid: string, others: object = {}) => ({
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, ...others }],
  })

  test('what is owned goes too, goes first, or is set free', async (t) => {
    const { must, call } = await start(t)
    for (const policy of ['Background', 'Foreground', 'Orphan']) {
      const { body: owner } = await must('POST', MAPS, { metadata: { name: 'owner' } })
      await must('POST', MAPS, { metadata: { name: 'child', ...owned(owner.metadata.uid) } })
      await must('DELETE', `${MAPS}/owner`, { propagationPolicy: policy })
      assert.equal((await call('GET', `${MAPS}/owner`)).status, 404)
      const child = await call('GET', `${MAPS}/child`)
      assert.equal(child.status, policy === 'Orphan' ? 200 : 404)
      if (child.status === 200) assert.equal(child.body.metadata.ownerReferences, undefined)
      await call('DELETE', `${MAPS}/child`)
    }
  })

  const labels = { app: 'x' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const workload = { selector: { matchLabels: labels }, template }
  const once = { template: { spec: { ...template.spec, restartPolicy: 'Never' } } }
  const byDefault: readonly (readonly [apiVersion: string, kind: string, spec: object, outcome: 'goes' | 'stays'])[] = [
    ['apps/v1', 'Deployment', workload, 'goes'],
    ['apps/v1', 'ReplicaSet', workload, 'goes'],
    ['apps/v1', 'DaemonSet', workload, 'goes'],
    ['apps/v1', 'StatefulSet', { ...workload, serviceName: 'x' }, 'goes'],
    ['batch/v1', 'CronJob', { schedule: '0 0 1 1 *', jobTemplate: { spec: once } }, 'goes'],
    ['batch/v1', 'Job', once, 'stays'],
  ]
  for (const [apiVersion, kind, spec, outcome] of byDefault)
    for (const how of ['without a body', 'with empty options'])
      test(`what a ${kind} owns ${outcome} when it is deleted ${how}`, async (t) => {
        const { must, call } = await start(t)
        const path = `/apis/${apiVersion}/namespaces/default/${kind.toLowerCase()}s`
        const { uid } = (await must('POST', path, { metadata: { name: 'owner' }, spec })).body.metadata
        const ownerReferences = [{ apiVersion, kind, name: 'owner', uid, controller: true }]
        await must('POST', MAPS, { metadata: { name: 'child', ownerReferences } })
        await must('DELETE', `${path}/owner`, how === 'without a body' ? undefined : {})
        assert.equal((await call('GET', `${path}/owner`)).status, 404)
        const child = await call('GET', `${MAPS}/child`)
        assert.equal(child.status, outcome === 'goes' ? 404 : 200)
        if (outcome === 'stays') assert.equal(child.body.metadata.ownerReferences, undefined)
      })

  test('in the foreground an owner waits for a pod that keeps it', async (t) => {
    const { must, call } = await start(t)
    const { body: owner } = await must('POST', MAPS, { metadata: { name: 'owner' } })
    const references = owned(owner.metadata.uid, { blockOwnerDeletion: true })
    await must('POST', PODS, { ...podNamed('p'), metadata: { name: 'p', ...references } })
    const { body } = await must('DELETE', `${MAPS}/owner`, { propagationPolicy: 'Foreground' })
    assert.deepEqual(body.metadata.finalizers, ['foregroundDeletion'])
    assert.equal((await must('GET', `${PODS}/p`)).body.metadata.deletionGracePeriodSeconds, 30)
    await must('DELETE', `${PODS}/p`, { gracePeriodSeconds: 0 })
    assert.equal((await call('GET', `${MAPS}/owner`)).status, 404)
  })

  test('a namespace goes with the last of what is in it', async (t) => {
    const { must, call } = await start(t)
    await must('POST', '/api/v1/namespaces', { metadata: { name: 'n' } })
    assert.equal((await must('GET', '/api/v1/namespaces/n/serviceaccounts/default')).status, 200)
    await must('POST', '/api/v1/namespaces/n/pods', podNamed('p'))
    await must('POST', '/api/v1/namespaces/n/configmaps', { metadata: { name: 'c' } })
    const { body } = await must('DELETE', '/api/v1/namespaces/n')
    assert.equal(body.status.phase, 'Terminating')
    assert.equal((await call('GET', '/api/v1/namespaces/n/configmaps/c')).status, 404)
    const late = await call('POST', '/api/v1/namespaces/n/configmaps', { metadata: { name: 'd' } })
    assert.match(
      errorText(late),
      /^403 Forbidden: configmaps "d" is forbidden: unable to create new content in namespace n/,
    )
    assert.equal(late.body.details.causes[0].reason, 'NamespaceTerminating')
    await must('DELETE', '/api/v1/namespaces/n/pods/p?gracePeriodSeconds=0')
    assert.equal((await call('GET', '/api/v1/namespaces/n')).status, 404)
    assert.match(errorText(await call('DELETE', '/api/v1/namespaces/default')), /^403 Forbidden: .*may not be deleted/)
  })

  test('many at once, by label', async (t) => {
    const { must } = await start(t)
    for (const [name, app] of [
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'y'],
    ])
      await must('POST', MAPS, { metadata: { name, labels: { app } } })
    const { body } = await must('DELETE', `${MAPS}?labelSelector=app%3Dx`)
    assert.deepEqual(
      body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['a', 'b'],
    )
    assert.equal((await must('GET', MAPS)).body.items.length, 1)
  })

  test('eviction deletes with grace; a dry run does not', async (t) => {
    const { must } = await start(t)
    await must('POST', PODS, podNamed('a'))
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }
    await must('POST', `${PODS}/a/eviction`, { ...eviction, deleteOptions: { dryRun: ['All'] } })
    assert.equal((await must('GET', `${PODS}/a`)).body.metadata.deletionTimestamp, undefined)
    assert.deepEqual(
      (await must('POST', `${PODS}/a/eviction`, { ...eviction, deleteOptions: { gracePeriodSeconds: 7 } })).body.status,
      'Success',
    )
    assert.equal((await must('GET', `${PODS}/a`)).body.metadata.deletionGracePeriodSeconds, 7)
  })
})

describe('scheduling', () => {
  test('gates hold a pod back until the last of them is gone', async (t) => {
    const { must } = await start(t)
    const { body } = await must('POST', PODS, podNamed('a', { schedulingGates: [{ name: 'g' }] }))
    assert.deepEqual([body.spec.nodeName, body.status.conditions[0].reason], [undefined, 'SchedulingGated'])
    const freed = await must('PATCH:json', `${PODS}/a`, [{ op: 'remove', path: '/spec/schedulingGates' }])
    assert.equal(freed.body.spec.nodeName, 'node-1')
  })

  test('another scheduler binds by itself, once', async (t) => {
    const { must, call } = await start(t)
    await must('POST', PODS, podNamed('a', { schedulerName: 'other' }))
    const binding = { kind: 'Binding', target: { kind: 'Node', name: 'node-7' } }
    assert.equal((await must('POST', `${PODS}/a/binding`, binding)).status, 201)
    const { body } = await must('GET', `${PODS}/a`)
    assert.deepEqual([body.spec.nodeName, body.status.conditions[0].type], ['node-7', 'PodScheduled'])
    assert.match(
      errorText(await call('POST', `${PODS}/a/binding`, binding)),
      /^409 Conflict: .*already assigned to node "node-7"/,
    )
  })

  test('priority and overhead come from their classes', async (t) => {
    const { must } = await start(t)
    await must('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'vm' },
      handler: 'kata',
      overhead: { podFixed: { cpu: '250m' } },
    })
    const { body } = await must(
      'POST',
      PODS,
      podNamed('a', { priorityClassName: 'system-node-critical', runtimeClassName: 'vm' }),
    )
    assert.deepEqual([body.spec.priority, body.spec.overhead], [2_000_001_000, { cpu: '250m' }])
  })
})

describe('volumes', () => {
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const volume = {
    metadata: { name: 'v' },
    spec: { capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  }
  const claim = {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }

  for (const order of ['volume first', 'claim first']) {
    test(`a claim gets the volume that suits, ${order}`, async (t) => {
      const { must } = await start(t)
      const both = [() => must('POST', '/api/v1/persistentvolumes', volume), () => must('POST', claims, claim)]
      for (const create of order === 'volume first' ? both : both.toReversed()) await create()
      const { body: bound } = await must('GET', `${claims}/c`)
      assert.deepEqual(
        [bound.status.phase, bound.spec.volumeName, bound.status.capacity],
        ['Bound', 'v', { storage: '5Gi' }],
      )
      const { body: taken } = await must('GET', '/api/v1/persistentvolumes/v')
      assert.deepEqual(
        [taken.status.phase, taken.spec.claimRef.name, taken.spec.claimRef.uid],
        ['Bound', 'c', bound.metadata.uid],
      )
    })
  }

  test('a claim in use outlives its deletion; its volume is released with it', async (t) => {
    const { must, call } = await start(t)
    await must('POST', '/api/v1/persistentvolumes', volume)
    await must('POST', claims, claim)
    await must('POST', PODS, podNamed('p', { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }] }))
    assert.equal((await must('DELETE', `${claims}/c`)).body.metadata.deletionTimestamp, '2026-01-01T00:00:00Z')
    assert.equal((await must('DELETE', '/api/v1/persistentvolumes/v')).body.kind, 'PersistentVolume')
    await must('DELETE', `${PODS}/p?gracePeriodSeconds=0`)
    assert.equal((await call('GET', `${claims}/c`)).status, 404)
    assert.equal((await call('GET', '/api/v1/persistentvolumes/v')).status, 404)
  })
})

describe('events', () => {
  test('are the same in both groups', async (t) => {
    const { must } = await start(t)
    const newer = '/apis/events.k8s.io/v1/namespaces/default/events'
    const older = '/api/v1/namespaces/default/events'
    await must('POST', newer, {
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      note: 'hello',
      reportingController: 'x',
      reportingInstance: 'x-1',
      action: 'Greet',
      reason: 'Greeted',
      type: 'Normal',
      eventTime: '2026-01-01T00:00:00.000000Z',
    })
    const { body: core } = await must('GET', `${older}/e`)
    assert.deepEqual(
      [core.apiVersion, core.involvedObject.name, core.message, core.reportingComponent, core.regarding],
      ['v1', 'p', 'hello', 'x', undefined],
    )
    await must('PATCH:strategic', `${older}/e`, { count: 5, message: 'again' })
    const { body } = await must('GET', `${newer}?fieldSelector=regarding.name%3Dp`)
    assert.deepEqual(
      [body.kind, body.apiVersion, body.items[0].note, body.items[0].deprecatedCount, body.items[0].apiVersion],
      ['EventList', 'events.k8s.io/v1', 'again', 5, 'events.k8s.io/v1'],
    )
    assert.equal((await must('GET', `${older}?fieldSelector=involvedObject.name%3Dq`)).body.items.length, 0)
  })

  test('of the newer group keep what they say; how often may change', async (t) => {
    const { must, call } = await start(t)
    const events = '/apis/events.k8s.io/v1/namespaces/default/events'
    await must('POST', events, {
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      note: 'hello',
      reportingController: 'x',
      reportingInstance: 'x-1',
      action: 'Greet',
      reason: 'Greeted',
      type: 'Normal',
      eventTime: '2026-01-01T00:00:00.000000Z',
    })
    const series = { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' }
    assert.deepEqual((await must('PATCH:merge', `${events}/e`, { series })).body.series, series)
    for (const change of [{ note: 'bye' }, { reportingInstance: 'x-2' }, { series: { count: 1 } }])
      assert.equal((await call('PATCH:merge', `${events}/e`, change)).status, 422)
  })
})

describe('namespaces', () => {
  test('with a finalizer of a client stay until that takes it away', async (t) => {
    const { must, call } = await start(t)
    const path = '/api/v1/namespaces/kept'
    await must('POST', '/api/v1/namespaces', { metadata: { name: 'kept' }, spec: { finalizers: ['example.com/hold'] } })
    await must('DELETE', path)
    const { body } = await must('GET', path)
    assert.deepEqual([body.status.phase, body.spec.finalizers], ['Terminating', ['example.com/hold']])
    await must('PUT', `${path}/finalize`, { ...body, spec: { finalizers: [] } })
    assert.equal((await call('GET', path)).status, 404)
  })
})

describe('reviews', () => {
  test('are answered and not kept', async (t) => {
    const { must, call } = await start(t)
    const access = await must('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get' } },
    })
    assert.deepEqual(access.body.status, { allowed: true, reason: 'every user may' })
    const token = await must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'good' } })
    assert.deepEqual([token.body.status.authenticated, token.body.status.user.username], [true, 'admin'])
    const self = await must('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {})
    assert.equal(self.body.status.userInfo.username, 'admin')
    assert.equal((await call('GET', '/apis/authentication.k8s.io/v1/tokenreviews')).status, 405)
  })
})
