/** Numbers from a seed, so that a failure can be seen again. */
export function createChance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface HostileRequest {
  readonly method: string
  readonly target: string
  readonly type: string
  readonly accept: string
  readonly body: Uint8Array
}

const METHODS = ['GET', 'POST', 'POST', 'POST', 'PUT', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW', '']
const ROOTS = [
  '/api/v1',
  '/api/v1/namespaces/default',
  '/apis/coordination.k8s.io/v1/namespaces/default',
  '/apis/events.k8s.io/v1/namespaces/default',
  '/apis/certificates.k8s.io/v1',
  '/apis/storage.k8s.io/v1',
  '/apis/scheduling.k8s.io/v1',
  '/apis/authorization.k8s.io/v1',
  '/apis/__proto__/v1',
  '/api/v2',
  '/apis/metrics.k8s.io/v1beta1',
  '/openapi/v2',
  '/openapi/v3',
  '',
]
const PLURALS = [
  'pods',
  'configmaps',
  'secrets',
  'events',
  'leases',
  'nodes',
  'persistentvolumes',
  'persistentvolumeclaims',
  'services',
  'namespaces',
  'certificatesigningrequests',
  'csidrivers',
  'priorityclasses',
  'subjectaccessreviews',
  'constructor',
  '__proto__',
]
// Places that are there, with an object that belongs to each.
const META = { name: 'a', labels: { a: 'b' }, annotations: { c: 'd' } }
const POD_SPEC = {
  containers: [
    {
      name: 'c',
      image: 'i',
      command: ['x'],
      env: [
        { name: 'A', value: '1' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      ports: [{ containerPort: 80, name: 'http' }],
      resources: { limits: { cpu: '1', memory: '1Gi' } },
      livenessProbe: { httpGet: { port: 'http', path: '/' } },
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      securityContext: { runAsUser: 1, capabilities: { add: ['X'] } },
    },
  ],
  volumes: [{ name: 'v', projected: { sources: [{ configMap: { name: 'x' } }] } }],
  tolerations: [{ key: 'a', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
      },
    },
  },
}
const VOLUME_SPEC = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  hostPath: { path: '/x' },
  claimRef: { namespace: 'default', name: 'a' },
}
const PLACES: readonly (readonly [path: string, object: object])[] = [
  ['/api/v1/namespaces/default/pods', { metadata: META, spec: POD_SPEC }],
  [
    '/api/v1/namespaces/default/pods',
    {
      metadata: META,
      spec: POD_SPEC,
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ name: 'c', state: { running: {} } }],
      },
    },
  ],
  ['/api/v1/namespaces/default/configmaps', { metadata: META, data: { a: 'b' }, binaryData: { c: 'AAAA' } }],
  [
    '/api/v1/namespaces/default/secrets',
    { metadata: META, data: { a: 'AAAA' }, stringData: { b: 'c' }, type: 'Opaque' },
  ],
  [
    '/api/v1/namespaces/default/events',
    {
      metadata: META,
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
      reason: 'x',
      count: 1,
      source: {},
      series: { count: 1 },
    },
  ],
  ['/api/v1/namespaces/default/services', { metadata: META, spec: { ports: [{ port: 80 }], selector: { a: 'b' } } }],
  [
    '/api/v1/namespaces/default/endpoints',
    { metadata: META, subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 1 }] }] },
  ],
  [
    '/api/v1/namespaces/default/persistentvolumeclaims',
    {
      metadata: META,
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      },
    },
  ],
  ['/api/v1/namespaces/default/serviceaccounts', { metadata: META, secrets: [{ name: 'x' }] }],
  [
    '/api/v1/nodes',
    {
      metadata: META,
      spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
      status: {
        // Nothing listens there.
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    },
  ],
  ['/api/v1/namespaces', { metadata: META }],
  ['/api/v1/persistentvolumes', { metadata: META, spec: VOLUME_SPEC }],
  [
    '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    {
      metadata: META,
      spec: { holderIdentity: 'x', leaseDurationSeconds: 1, renewTime: '2026-01-01T00:00:00.000000Z' },
    },
  ],
  [
    '/apis/events.k8s.io/v1/namespaces/default/events',
    { metadata: META, regarding: { namespace: 'default' }, note: 'x', eventTime: '2026-01-01T00:00:00.000000Z' },
  ],
  [
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    {
      metadata: META,
      spec: {
        request: Buffer.from('-----BEGIN CERTIFICATE REQUEST-----').toString('base64'),
        signerName: 'a.b/c',
        usages: ['client auth'],
      },
      status: { conditions: [{ type: 'Approved', status: 'True' }] },
    },
  ],
  [
    '/apis/storage.k8s.io/v1/volumeattachments',
    { metadata: META, spec: { attacher: 'x', nodeName: 'y', source: { persistentVolumeName: 'z' } } },
  ],
  [
    '/apis/storage.k8s.io/v1/csidrivers',
    { metadata: META, spec: { tokenRequests: [{ audience: 'x' }], volumeLifecycleModes: ['Ephemeral'] } },
  ],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: META, value: 5 }],
  ['/apis/node.k8s.io/v1/runtimeclasses', { metadata: META, handler: 'x', overhead: { podFixed: { cpu: '1' } } }],
  ['/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'x', resourceAttributes: { verb: 'get' } } }],
  ['/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }],
]
const NAMES = [
  '',
  'a',
  'b',
  '..',
  '%2e%2e',
  '%00',
  '%',
  '%zz',
  'a%2Fb',
  '__proto__',
  'constructor',
  'é',
  '%F0%9F%92%A9',
  'a'.repeat(5000),
  '//',
  '*',
  "' OR 1=1 --",
]
const SUBRESOURCES = [
  '',
  '',
  '',
  'status',
  'attach',
  'binding',
  'eviction',
  'exec',
  'finalize',
  'log',
  'portforward',
  'proxy',
  'proxy/..%2f..//x?a',
  'resize',
  'ephemeralcontainers',
  'approval',
  'toString',
  'a/b',
]
const QUERIES = [
  'limit=1',
  'limit=-1',
  'limit=99999999999999999999',
  'limit=a',
  'continue=x',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ',
  'resourceVersion=-1',
  'resourceVersion=9223372036854775807',
  'resourceVersion=1',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=Never&resourceVersion=1',
  'labelSelector=a%20in%20(',
  'labelSelector=,,,',
  'container=__proto__',
  'tailLines=-9223372036854775808',
  'sinceTime=yesterday',
  'follow&stream=x',
  'labelSelector=__proto__',
  'labelSelector=a>b',
  'fieldSelector=a',
  'fieldSelector=__proto__=1',
  'fieldSelector=metadata.name%3Da',
  'dryRun=All',
  'dryRun=x',
  'fieldValidation=Strict',
  'fieldValidation=__proto__',
  'gracePeriodSeconds=-9223372036854775808',
  'gracePeriodSeconds=0',
  'propagationPolicy=Sideways',
  '%',
  '%zz=1',
  '&&&',
  'a=b=c',
  'includeObject=All',
]
const TYPES = [
  'application/json',
  'application/json',
  'application/json',
  'application/json;charset=utf-16',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/html',
  '',
  ';;;',
  '__proto__',
]
const ACCEPTS = [
  '*/*',
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=__proto__;v=v1;g=meta.k8s.io',
  'image/png',
  ';;',
  'application/vnd.kubernetes.protobuf',
]
const SCALARS = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1e309',
  '-1e309',
  '1.5',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '9007199254740993',
  '18446744073709551616',
  '1e400000000',
  '""',
  '"a"',
  '"__proto__"',
  '"\\ud800"',
  '"\\u0000"',
  '"2026-01-01T00:00:00Z"',
  '"9999999999999Ei"',
  '"1e999999999"',
  '"100m"',
  '[]',
  '{}',
  '[null]',
  '[[[]]]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
]
const KEYS = [
  'metadata',
  'name',
  'namespace',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'generateName',
  'uid',
  'resourceVersion',
  'deletionTimestamp',
  'spec',
  'status',
  'data',
  'stringData',
  'type',
  'containers',
  'image',
  'env',
  'volumes',
  'ports',
  'containerPort',
  'hostPort',
  'resources',
  'limits',
  'requests',
  'cpu',
  'capacity',
  'storage',
  'accessModes',
  'involvedObject',
  'kind',
  'apiVersion',
  'conditions',
  '__proto__',
  'constructor',
  'toString',
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  'op',
  'path',
  'from',
  'value',
  'a',
  '',
]

/** One request that no client would send in good faith; some of them are legal all the same. */
export function createHostileRequest(chance: () => number): HostileRequest {
  const source = new HostileSource(chance)
  const isNear = chance() < 0.75
  const [known, object] = source.pick(PLACES)
  const method = source.pick(METHODS)
  const place = isNear ? known : `${source.pick(ROOTS)}/${source.pick(PLURALS)}`
  const isSingle = method === 'PUT' || method === 'PATCH' || chance() < 0.3
  const name = !isSingle && isNear ? '' : chance() < 0.85 ? source.pick(['a', 'b']) : source.pick(NAMES)
  const subresource = chance() < 0.7 ? '' : source.pick(SUBRESOURCES)
  const path = [place, name, name === '' ? '' : subresource]
    .filter((part, index) => index === 0 || part !== '')
    .join('/')
  const query = Array.from({ length: Math.floor(chance() * 2.2) }, () => source.pick(QUERIES)).join('&')
  return {
    method,
    target: query === '' ? path : `${path}?${query}`,
    type: chance() < 0.85 ? (method === 'PATCH' ? source.pick(PATCH_TYPES) : 'application/json') : source.pick(TYPES),
    accept: chance() < 0.9 ? source.pick(ACCEPTS.slice(0, 4)) : source.pick(ACCEPTS),
    body: source.damage(chance() < 0.8 ? source.mutate(object) : source.text()),
  }
}

const PATCH_TYPES = TYPES.filter((type) => type.endsWith('patch+json'))

class HostileSource {
  readonly #chance: () => number

  constructor(chance: () => number) {
    this.#chance = chance
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#chance() * list.length)] as T
  }

  /** Any JSON, with keys that mean something somewhere. */
  json(depth: number): string {
    const kind = depth > 6 ? 0 : this.#chance()
    if (kind < 0.4) return this.pick(SCALARS)
    const members = Array.from({ length: Math.floor(this.#chance() * 5) }, () => this.json(depth + 1))
    if (kind < 0.55) return `[${members.join(',')}]`
    return `{${members.map((member) => `${JSON.stringify(this.pick(KEYS))}:${member}`).join(',')}}`
  }

  /** A good object with a few places that are not. */
  mutate(object: object): string {
    const copy = structuredClone(object) as Record<string, unknown>
    const raw: string[] = []
    const holes = Math.floor(this.#chance() * 3)
    for (let hole = 0; hole < holes; hole++) {
      let at = copy
      for (;;) {
        const key = this.#chance() < 0.9 ? this.pick(Object.keys(at)) : this.pick(KEYS)
        const next = key === undefined ? undefined : Object.hasOwn(at, key) ? at[key] : undefined
        if (typeof next !== 'object' || next === null || this.#chance() < 0.25) {
          Object.defineProperty(at, key ?? 'a', {
            value: `@${raw.length}@`,
            enumerable: true,
            configurable: true,
            writable: true,
          })
          raw.push(this.json(4))
          break
        }
        at = next as Record<string, unknown>
      }
    }
    return JSON.stringify(copy).replaceAll(/"@(\d+)@"/g, (_, index: string) => raw[Number(index)] ?? 'null')
  }

  text(): string {
    switch (Math.floor(this.#chance() * 7)) {
      case 0:
        return this.json(0)
      case 1:
        return `[{"op":"${this.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x'])}","path":"/${this.pick(KEYS)}/${this.pick(KEYS)}","from":"/metadata","value":${this.json(2)}}]`
      case 2:
        return ''
      case 3:
        return this.json(0).slice(0, Math.floor(this.#chance() * 60))
      case 4:
        return '['.repeat(100_000)
      case 5:
        return '{"a":'.repeat(300)
      default:
        return this.pick(SCALARS)
    }
  }

  damage(text: string): Uint8Array {
    const encoded = Buffer.from(text)
    const kind = this.#chance()
    if (kind < 0.05 && encoded.length > 0)
      encoded[Math.floor(this.#chance() * encoded.length)] = Math.floor(this.#chance() * 256)
    if (kind > 0.98) return Buffer.concat([Uint8Array.of(0x6b, 0x38, 0x73, 0), encoded])
    return kind > 0.96 ? Buffer.from(text, 'utf16le') : encoded
  }
}
