import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createEnvironmentSources } from '../../../../test/builders/create-environment-sources.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { Container, EnvVarSource, PodSpec, Service } from '../../../model/generated/core-v1.ts'
import { computeEnvironment } from './compute-environment.ts'
import type { EnvironmentInput } from './compute-environment.ts'
import { ContainerConfigError } from '../pod-config-error.ts'
import type { Lookup } from './environment-sources.ts'

type Data = Lookup<ReadonlyMap<string, string>>

const objects = new Map<string, Data>([
  ['cfg', { kind: 'found', value: new Map(Object.entries({ A: 'a1', 'odd.key': 'odd' })) }],
  ['more', { kind: 'found', value: new Map([['A', 'a2']]) }],
  ['later', { kind: 'unavailable', why: 'the API server cannot be reached' }],
])
const find = (name: string): Data => objects.get(name) ?? { kind: 'missing' }
const cache: Service = {
  metadata: { name: 'cache', namespace: 'shop' },
  spec: { clusterIP: '10.0.0.5', ports: [{ port: 6379 }] },
}
const sources = createEnvironmentSources({
  configMap: find,
  secret: find,
  file: ({ key }) =>
    key === 'F'
      ? { kind: 'found', value: 'from file' }
      : key === 'BROKEN'
        ? { kind: 'unavailable', why: 'line 1 has no quote' }
        : { kind: 'missing' },
})

function compute(
  container: Partial<Container>,
  changes: Partial<EnvironmentInput> = {},
  spec: Partial<PodSpec> = {},
): Record<string, string>[] {
  const input: EnvironmentInput = {
    pod: createPod({ spec }),
    container: createContainer(container),
    podIps: ['10.1.0.2'],
    nodeIps: ['192.0.2.1'],
    nodeAllocatable: new Map(),
    sources,
    addedVariables: [],
    ...changes,
  }
  return computeEnvironment(input).map(({ name, value }) => ({ [name]: value }))
}
const from = (valueFrom: EnvVarSource) => ({ env: [{ name: 'X', valueFrom }] })
const file = (key: string, optional?: boolean) => ({
  fileKeyRef: { volumeName: 'vol', path: 'dir/env', key, optional },
})

const rows: readonly {
  readonly name: string
  readonly container: Partial<Container>
  readonly expected: readonly Record<string, string>[]
}[] = [
  { name: 'nothing', container: {}, expected: [] },
  {
    name: 'literals, in order, each seeing those before it',
    container: {
      env: [
        { name: 'B', value: '1' },
        { name: 'A', value: '$(B)-$(C)' },
        { name: 'C', value: '$(A) $$(B)' },
      ],
    },
    expected: [{ B: '1' }, { A: '1-$(C)' }, { C: '1-$(C) $(B)' }],
  },
  { name: 'neither value nor source', container: { env: [{ name: 'X' }] }, expected: [{ X: '' }] },
  {
    name: 'a value comes before its source',
    container: { env: [{ name: 'X', value: 'v', valueFrom: { configMapKeyRef: { name: 'gone', key: 'k' } } }] },
    expected: [{ X: 'v' }],
  },
  { name: 'fieldRef', container: from({ fieldRef: { fieldPath: 'status.podIP' } }), expected: [{ X: '10.1.0.2' }] },
  {
    name: 'resourceFieldRef',
    container: from({ resourceFieldRef: { resource: 'requests.cpu' } }),
    expected: [{ X: '0' }],
  },
  { name: 'configMapKeyRef', container: from({ configMapKeyRef: { name: 'cfg', key: 'A' } }), expected: [{ X: 'a1' }] },
  { name: 'secretKeyRef', container: from({ secretKeyRef: { name: 'more', key: 'A' } }), expected: [{ X: 'a2' }] },
  { name: 'fileKeyRef', container: from(file('F')), expected: [{ X: 'from file' }] },
  {
    name: 'optional and missing objects leave the variable unset',
    container: {
      env: [
        { name: 'W', valueFrom: { configMapKeyRef: { name: 'gone', key: 'k', optional: true } } },
        { name: 'X', valueFrom: { configMapKeyRef: { name: 'cfg', key: 'gone', optional: true } } },
        { name: 'Y', valueFrom: { secretKeyRef: { name: 'gone', key: 'k', optional: true } } },
        { name: 'Z', valueFrom: file('GONE', true) },
        { name: 'LAST', value: '$(W)' },
      ],
      envFrom: [{ configMapRef: { name: 'gone', optional: true } }, { secretRef: { name: 'gone', optional: true } }],
    },
    expected: [{ LAST: '$(W)' }],
  },
  {
    name: 'envFrom: later objects overwrite, prefixes keep them apart, keys are not filtered, env wins',
    container: {
      envFrom: [
        { configMapRef: { name: 'cfg' } },
        { secretRef: { name: 'more' } },
        { prefix: 'P_', configMapRef: { name: 'cfg' } },
        {},
      ],
      env: [{ name: 'P_A', value: '$(A)!' }],
    },
    expected: [{ A: 'a2' }, { 'odd.key': 'odd' }, { P_A: 'a2!' }, { 'P_odd.key': 'odd' }],
  },
]

describe('computeEnvironment()', () => {
  for (const { name, container, expected } of rows) {
    test(name, () => assert.deepEqual(compute(container), expected))
  }

  test('devices come first, services that the container did not name come last', () => {
    const withServices = { ...sources, services: () => ({ kind: 'found' as const, value: [cache] }) }
    const env = [
      { name: 'URL', value: 'redis://$(CACHE_SERVICE_HOST)' },
      { name: 'CACHE_PORT', value: 'mine' },
    ]
    const addedVariables = [{ name: 'DEVICE', value: '0' }]
    const names = compute({ env }, { sources: withServices, addedVariables })
    assert.deepEqual(names.slice(0, 5), [
      { DEVICE: '0' },
      { URL: 'redis://10.0.0.5' },
      { CACHE_PORT: 'mine' },
      { CACHE_SERVICE_HOST: '10.0.0.5' },
      { CACHE_SERVICE_PORT: '6379' },
    ])
    assert.equal(names.length, 9)
  })

  const rejected: readonly (readonly [Partial<Container>, message: string])[] = [
    [from({ configMapKeyRef: { name: 'gone', key: 'k' } }), 'configmap "gone" not found'],
    [from({ configMapKeyRef: { name: 'cfg', key: 'k' } }), "couldn't find key k in ConfigMap shop/cfg"],
    [from({ secretKeyRef: { name: 'gone', key: 'k' } }), 'secret "gone" not found'],
    [from({ secretKeyRef: { name: 'cfg', key: 'k' } }), "couldn't find key k in Secret shop/cfg"],
    [
      from({ configMapKeyRef: { name: 'later', key: 'k', optional: true } }),
      "couldn't get configMap shop/later: the API server cannot be reached",
    ],
    [{ envFrom: [{ configMapRef: { name: 'gone' } }] }, 'configmap "gone" not found'],
    [
      { envFrom: [{ secretRef: { name: 'later', optional: true } }] },
      "couldn't get secret shop/later: the API server cannot be reached",
    ],
    [from(file('GONE')), 'environment variable key "GONE" not found in file "dir/env" of volume "vol"'],
    [from(file('BROKEN', true)), `couldn't parse env file "dir/env" of volume "vol": line 1 has no quote`],
    [from({ fieldRef: { fieldPath: 'spec.priority' } }), 'field label not supported: spec.priority'],
  ]
  for (const [container, message] of rejected) {
    test(`rejects: ${message}`, () => {
      assert.throws(() => compute(container), new ContainerConfigError(message))
    })
  }

  test('services must be known, except to a static pod', () => {
    const unread = { ...sources, services: () => ({ kind: 'unavailable' as const, why: 'not synced' }) }
    const message = 'services have not yet been read at least once, cannot construct envvars: not synced'
    assert.throws(() => compute({}, { sources: unread }), new ContainerConfigError(message))
    const pod = createPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } })
    assert.deepEqual(compute({}, { sources: unread, pod }), [])
    const unset = 'nil pod.spec.enableServiceLinks encountered, cannot construct envvars'
    assert.throws(() => compute({}, {}, { enableServiceLinks: undefined }), new ContainerConfigError(unset))
  })

  test('keeps the order of the spec, each name once with its last value', () => {
    const variable = fc.record({ name: fc.constantFrom('A', 'B', 'C', 'D'), value: fc.stringMatching(/^[a-z]{1,3}$/) })
    fc.assert(
      fc.property(fc.array(variable), (env) => {
        const expected = Object.entries(Object.fromEntries(env.map(({ name, value }) => [name, value])))
        assert.deepEqual(
          compute({ env }),
          expected.map(([name, value]) => ({ [name]: value })),
        )
      }),
    )
  })
})
