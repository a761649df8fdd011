import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeObjectApi } from '../../../test/fakes/fake-object-api.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { computeEnvironment } from '../containers/environment/compute-environment.ts'
import type { EnvironmentFile, Lookup } from '../containers/environment/environment-sources.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { ObjectError } from './object-api.ts'
import { createPodObjects } from './pod-objects.ts'
import { readEnvironment } from './read-environment.ts'

const never = new AbortController().signal
const namespace = 'shop'
const base64 = (text: string | readonly number[]) => Buffer.from(text as string).toString('base64')

interface Given {
  readonly configMaps?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly failure?: Error
}

/** The variables of a container, as text, with all that was asked for. */
async function environmentOf(container: Partial<Container>, given: Given = {}) {
  const clock = new FakeClock()
  const api = new FakeObjectApi(clock)
  for (const [name, data] of Object.entries(given.configMaps ?? {}))
    api.put('ConfigMap', { metadata: { namespace, name }, data })
  for (const [name, data] of Object.entries(given.secrets ?? {}))
    api.put('Secret', { metadata: { namespace, name }, data })
  api.failure = given.failure
  const tasks = new TaskGroup(never)
  const deps = { syncFrequencyMs: 60_000, nodeTtlMs: () => undefined, onChange: () => {}, log: silentLogger }
  const objects = createPodObjects({ ...deps, api, strategy: 'Get', tasks, clock, random: () => 0 })
  const pod = createPod({ spec: { containers: [createContainer(container)] } })
  const files = new Map<string, Lookup<string>>([
    ['A', { kind: 'found', value: 'from a file' }],
    ['BAD', { kind: 'unavailable', why: 'line 1 has no quote' }],
  ])
  const readFile = async (_: unknown, { key }: EnvironmentFile): Promise<Lookup<string>> =>
    files.get(key) ?? { kind: 'missing' }
  const services = () => ({ kind: 'found', value: [] }) as const
  const request = { pod, container: createContainer(container) }
  const sources = await readEnvironment(
    { objects, readFile, services, servicesRead: () => Promise.resolve(), clock },
    request,
    never,
  )
  const info = { pod, container: request.container, podIps: [], nodeIps: [], allocatable: {} }
  const compute = () =>
    computeEnvironment({ ...info, sources, addedVariables: [] } as never).map(({ name, value }) => `${name}=${value}`)
  return { asked: api.calls, compute }
}

const fromConfigMap = (name: string, key: string, optional?: boolean) => ({
  name: 'V',
  valueFrom: { configMapKeyRef: { name, key, optional } },
})
const fromSecret = (name: string, key: string, optional?: boolean) => ({
  name: 'V',
  valueFrom: { secretKeyRef: { name, key, optional } },
})
const fromFile = (key: string, optional?: boolean) => ({
  name: 'V',
  valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a.env', key, optional } },
})

const data: Given = {
  configMaps: { c: { k: 'v', 'odd.key': 'w' } },
  secrets: { s: { k: base64('väl'), bytes: base64([0xff]) } },
}

const rows: readonly (readonly [string, Partial<Container>, readonly string[]])[] = [
  ['a key of a ConfigMap', { env: [fromConfigMap('c', 'k')] }, ['V=v']],
  ['a key of a Secret', { env: [fromSecret('s', 'k')] }, ['V=väl']],
  [
    'a whole ConfigMap, with a prefix, whatever its keys look like',
    { envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }] },
    ['P_k=v', 'P_odd.key=w'],
  ],
  ['an optional key that is not there', { env: [fromConfigMap('c', 'x', true)] }, []],
  ['an optional ConfigMap that is not there', { env: [fromConfigMap('x', 'k', true)] }, []],
  ['an optional Secret that is not there', { envFrom: [{ secretRef: { name: 'x', optional: true } }] }, []],
  ['a key of a file', { env: [fromFile('A')] }, ['V=from a file']],
  ['an optional key of a file that is not there', { env: [fromFile('X', true)] }, []],
]

const failures: readonly (readonly [string, Partial<Container>, message: string])[] = [
  ['a missing key', { env: [fromConfigMap('c', 'x')] }, "couldn't find key x in ConfigMap shop/c"],
  ['a missing key of a Secret', { env: [fromSecret('s', 'x')] }, "couldn't find key x in Secret shop/s"],
  ['a missing ConfigMap', { env: [fromConfigMap('x', 'k')] }, 'configmap "x" not found'],
  ['a missing Secret', { envFrom: [{ secretRef: { name: 'x' } }] }, 'secret "x" not found'],
  [
    'a key of a Secret that is no text',
    { env: [fromSecret('s', 'bytes')] },
    "couldn't get secret shop/s: key bytes is not UTF-8 text, which a variable has to be",
  ],
  [
    'a Secret of which not everything is text',
    { envFrom: [{ secretRef: { name: 's' } }] },
    "couldn't get secret shop/s: key bytes is not UTF-8 text, which a variable has to be",
  ],
  [
    'a file that cannot be read',
    { env: [fromFile('BAD')] },
    'couldn\'t parse env file "a.env" of volume "v": line 1 has no quote',
  ],
]

describe('readEnvironment()', () => {
  for (const [name, container, expected] of rows) {
    test(`reads ${name}`, async () => {
      assert.deepEqual((await environmentOf(container, data)).compute(), expected)
    })
  }

  for (const [name, container, message] of failures) {
    test(`leads to the message for ${name}`, async () => {
      const { compute } = await environmentOf(container, data)
      assert.throws(compute, { name: 'ContainerConfigError', message })
    })
  }

  test('asks for each object once, and for nothing that a value stands in front of', async () => {
    const env = [
      fromConfigMap('c', 'k'),
      { ...fromConfigMap('c', 'odd.key'), name: 'W' },
      { ...fromSecret('s', 'k'), name: 'X', value: 'own' },
    ]
    const { asked } = await environmentOf({ env }, data)
    assert.deepEqual(asked, ['get ConfigMap shop/c'])
  })

  test('says why when the API does not answer, also for what is optional', async () => {
    const failure = new ObjectError('Forbidden', 'not yours')
    const { compute } = await environmentOf({ env: [fromConfigMap('c', 'k', true)] }, { failure })
    assert.throws(compute, { message: "couldn't get configMap shop/c: not yours" })
  })

  const waits: readonly (readonly [name: string, source: string, later: Lookup<readonly []>, ms: number])[] = [
    ['waits for the services while they are on their way', 'api', { kind: 'found', value: [] }, 1000],
    ['gives up after a while', 'api', { kind: 'unavailable', why: 'not read' }, 5000],
    ['does not let a static pod wait', 'file', { kind: 'unavailable', why: 'not read' }, 0],
  ]
  for (const [name, source, later, ms] of waits) {
    test(name, async () => {
      const clock = new FakeClock()
      const startedAt = clock.now()
      let services: Lookup<readonly []> = { kind: 'unavailable', why: 'not read' }
      const read = Promise.withResolvers<void>()
      const metadata = { annotations: { 'kubernetes.io/config.source': source } }
      const pod = createPod({ metadata, spec: { containers: [createContainer()] } })
      const container = createContainer()
      const noObject = () => Promise.reject(new Error('nobody asks'))
      const objects = { configMap: noObject, secret: noObject }
      const deps = { objects, readFile: noObject, services: () => services, servicesRead: () => read.promise, clock }
      let readyAt = -1
      const sources = readEnvironment(deps, { pod, container }, never).then((value) => {
        readyAt = clock.now() - startedAt
        return value
      })
      await clock.advance(0)
      await clock.advance(1000)
      services = later
      if (later.kind === 'found') read.resolve()
      await clock.advance(0)
      await clock.advance(4000)
      assert.deepEqual([(await sources).services(), readyAt], [later, ms])
    })
  }
})
