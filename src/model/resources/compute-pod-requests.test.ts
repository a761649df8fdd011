import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computePodLimits, computePodRequests } from './compute-pod-requests.ts'
import type { ResourceAmounts } from './compute-pod-requests.ts'
import type { Container, PodSpec } from '../generated/core-v1.ts'
import { formatQuantity, parseQuantity } from './quantity.ts'

type Texts = Readonly<Record<string, string>>

const texts = (amounts: ResourceAmounts): Texts =>
  Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]))
const asks = (requests: Texts, parts: Partial<Container> = {}): Container =>
  createContainer({ resources: { requests, limits: requests }, ...parts })
const sidecar = { restartPolicy: 'Always' }

const rows: readonly {
  readonly name: string
  readonly spec: Partial<PodSpec>
  readonly requests: Texts
  readonly limits?: Texts
}[] = [
  { name: 'nothing asked', spec: {}, requests: {} },
  {
    name: 'containers add up',
    spec: { containers: [asks({ cpu: '100m', memory: '1Gi' }), asks({ cpu: '1' }), asks({ 'example.com/gpu': '2' })] },
    requests: { cpu: '1100m', memory: '1Gi', 'example.com/gpu': '2' },
  },
  {
    name: 'the largest init container counts, not their sum',
    spec: { containers: [asks({ cpu: '1' })], initContainers: [asks({ cpu: '2' }), asks({ cpu: '3', memory: '5Mi' })] },
    requests: { cpu: '3', memory: '5Mi' },
  },
  {
    name: 'a sidecar runs beside the containers',
    spec: { containers: [asks({ cpu: '1' })], initContainers: [asks({ cpu: '2' }, sidecar)] },
    requests: { cpu: '3' },
  },
  {
    name: 'an init container runs beside the sidecars before it, not those after it',
    spec: {
      containers: [asks({ cpu: '1' })],
      initContainers: [asks({ cpu: '1' }, sidecar), asks({ cpu: '5' }), asks({ cpu: '2' }, sidecar)],
    },
    requests: { cpu: '6' },
  },
  {
    name: 'what the pod says replaces cpu, memory and hugepages, nothing else',
    spec: {
      containers: [asks({ cpu: '1', memory: '1Mi', 'example.com/gpu': '1' })],
      resources: {
        requests: { cpu: '4', 'hugepages-2Mi': '2Mi', 'example.com/gpu': '9' },
        limits: { memory: '8Mi' },
      },
    },
    requests: { cpu: '4', memory: '1Mi', 'example.com/gpu': '1', 'hugepages-2Mi': '2Mi' },
    limits: { cpu: '1', memory: '8Mi', 'example.com/gpu': '1' },
  },
  {
    name: 'overhead comes on top, but makes no limit where there was none',
    spec: {
      containers: [createContainer({ resources: { requests: { cpu: '1' }, limits: { memory: '1Mi', cpu: '0' } } })],
      overhead: { cpu: '100m', memory: '1Mi' },
    },
    requests: { cpu: '1100m', memory: '1Mi' },
    limits: { memory: '2Mi', cpu: '0' },
  },
]

describe('computePodRequests() and computePodLimits()', () => {
  for (const { name, spec, requests, limits = requests } of rows) {
    test(name, () => {
      const pod = createPod({ spec })
      assert.deepEqual(texts(computePodRequests(pod, { overhead: true })), requests)
      assert.deepEqual(texts(computePodLimits(pod, { overhead: true })), limits)
    })
  }

  test('overhead can be left out', () => {
    const pod = createPod({ spec: { containers: [asks({ cpu: '1' })], overhead: { cpu: '1' } } })
    assert.deepEqual(texts(computePodRequests(pod, { overhead: false })), { cpu: '1' })
    assert.deepEqual(texts(computePodLimits(pod, { overhead: false })), { cpu: '1' })
  })

  test('a pod asks for at least what any of its containers asks for', () => {
    const cpu = fc.nat({ max: 5000 }).map((milli) => `${milli}m`)
    const init = fc.record({ cpu, sidecar: fc.boolean() })
    fc.assert(
      fc.property(fc.array(cpu, { minLength: 1 }), fc.array(init), (regular, inits) => {
        const containers = regular.map((text) => asks({ cpu: text }))
        const initContainers = inits.map(({ cpu: text, sidecar: always }) => asks({ cpu: text }, always ? sidecar : {}))
        const total = computePodRequests(createPod({ spec: { containers, initContainers } }), { overhead: true })
        for (const container of [...containers, ...initContainers]) {
          const own = parseQuantity(container.resources?.requests?.['cpu'] ?? '0')
          assert.ok((total.get('cpu')?.nanos ?? 0n) >= own.nanos)
        }
      }),
    )
  })
})
