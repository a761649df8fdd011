import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodParts } from '../../../test/builders/create-pod.ts'
import type { Container, PodSpec } from '../../model/generated/core-v1.ts'
import type { ContainerKind } from '../../model/pod/pod-containers.ts'
import { computeOomScoreAdj } from './compute-oom-score-adj.ts'

const CAPACITY = 10_000n
const asks = (memory: string, parts: Partial<Container> = {}) =>
  createContainer({ resources: { requests: { memory } }, ...parts })
const sidecar = (memory: string) => asks(memory, { restartPolicy: 'Always' })
const whole = { cpu: '1', memory: '1k' }
const guaranteed = createContainer({ resources: { requests: whole, limits: whole } })

interface Row extends PodParts {
  readonly name: string
  readonly spec: Partial<PodSpec> & { readonly containers: readonly Container[] }
  readonly kind?: ContainerKind
  readonly expected: bigint
}

const rows: readonly Row[] = [
  { name: 'Guaranteed', spec: { containers: [guaranteed] }, expected: -997n },
  { name: 'BestEffort', spec: { containers: [createContainer()] }, expected: 1000n },
  {
    name: 'BestEffort and node-critical',
    spec: { containers: [createContainer()], priority: 2_000_001_000, priorityClassName: 'system-node-critical' },
    expected: -997n,
  },
  {
    name: 'the priority class alone is not enough',
    spec: { containers: [createContainer()], priorityClassName: 'system-node-critical' },
    expected: 1000n,
  },
  { name: 'Burstable, a quarter of the memory', spec: { containers: [asks('2500')] }, expected: 750n },
  { name: 'Burstable, rounded', spec: { containers: [asks('2509')] }, expected: 750n },
  { name: 'Burstable, all of the memory', spec: { containers: [asks('10k')] }, expected: 3n },
  { name: 'Burstable, more than the memory', spec: { containers: [asks('20k')] }, expected: 3n },
  { name: 'Burstable, next to nothing', spec: { containers: [asks('1')] }, expected: 999n },
  {
    name: 'Burstable by cpu alone',
    spec: { containers: [createContainer({ resources: { requests: { cpu: '1' } } })] },
    expected: 999n,
  },
  {
    name: 'what the pod asks for beyond its containers is shared',
    spec: { containers: [asks('1k'), asks('2k')], resources: { requests: { memory: '5k' } } },
    expected: 800n,
  },
  {
    name: 'a small sidecar outlives the smallest container',
    spec: { containers: [asks('5k'), asks('3k')], initContainers: [sidecar('1k')] },
    kind: 'init',
    expected: 700n,
  },
  {
    name: 'a large sidecar keeps its own',
    spec: { containers: [asks('1k')], initContainers: [sidecar('4k')] },
    kind: 'init',
    expected: 600n,
  },
  {
    name: 'a plain init container has its own',
    spec: { containers: [asks('5k')], initContainers: [asks('1k')] },
    kind: 'init',
    expected: 900n,
  },
  {
    name: 'a regular container that always restarts is no sidecar',
    spec: { containers: [sidecar('1k'), asks('500')] },
    expected: 900n,
  },
]

describe('computeOomScoreAdj()', () => {
  for (const { name, spec, kind = 'regular', expected } of rows) {
    test(name, () => {
      const pod = createPod({ spec })
      const [container = createContainer()] = kind === 'init' ? (spec.initContainers ?? []) : spec.containers
      assert.equal(computeOomScoreAdj(pod, { kind, container }, CAPACITY), expected)
    })
  }

  test('a Burstable container always lies between the Guaranteed and the BestEffort ones', () => {
    const memory = fc.bigInt({ min: 0n, max: 2n ** 62n })
    fc.assert(
      fc.property(memory, memory, memory, (request, podRequest, capacity) => {
        const container = createContainer({ resources: { requests: { cpu: '1', memory: `${request}` } } })
        const resources = { requests: { cpu: '1', memory: `${podRequest}` } }
        const pod = createPod({ spec: { containers: [container], resources } })
        const score = computeOomScoreAdj(pod, { kind: 'regular', container }, capacity)
        assert.ok(score >= 3n && score <= 999n)
      }),
    )
  })
})
