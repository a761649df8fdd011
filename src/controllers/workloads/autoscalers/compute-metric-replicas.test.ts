import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod, PodSpec, PodStatus } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeMetricReplicas } from './compute-metric-replicas.ts'
import type { MetricInput, MetricResult } from './compute-metric-replicas.ts'

const now = Date.UTC(2026, 0, 2)
const ago = (seconds: number) => toApiTime(now - seconds * 1000)

/** A pod that asks for 100m of CPU and 1 Mi of memory. */
const pod = (name: string, status: PodStatus = settled, spec: Partial<PodSpec> = {}): Live<Pod> =>
  livePod({ name }, status, {
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m', memory: '1Mi' } } }],
    ...spec,
  })
const ready = (status: string, since: number) => [{ type: 'Ready', status, lastTransitionTime: ago(since) }]
const settled: PodStatus = { phase: 'Running', startTime: ago(3600), conditions: ready('True', 3000) }
const pending: PodStatus = { phase: 'Pending' }
const starting: PodStatus = { phase: 'Running', startTime: ago(60), conditions: ready('False', 60) }
const justReady: PodStatus = { phase: 'Running', startTime: ago(60), conditions: ready('True', 10) }
const readyForLong: PodStatus = { phase: 'Running', startTime: ago(120), conditions: ready('True', 60) }
const neverReady: PodStatus = { phase: 'Running', startTime: ago(3600), conditions: ready('False', 3590) }
const failing: PodStatus = { phase: 'Running', startTime: ago(3600), conditions: ready('False', 600) }
const failed: PodStatus = { phase: 'Failed' }
const unknown: PodStatus = { phase: 'Running' }

/** Statuses of the pods, what each uses in thousandths (undefined: not measured), the target in percent. */
interface Case {
  readonly pods?: readonly PodStatus[]
  readonly uses: readonly (number | undefined)[]
  readonly current?: number
  readonly input?: Partial<MetricInput>
  readonly specs?: Partial<PodSpec>
  readonly expected: number | string
}

function run({ uses, pods = uses.map(() => settled), current = pods.length, input = {}, specs = {} }: Case) {
  return computeMetricReplicas({
    resource: 'cpu',
    container: undefined,
    target: { utilization: 50 },
    pods: pods.map((status, index) => pod(`p${index}`, status, specs)),
    samples: new Map(
      uses.flatMap((used, index) =>
        used === undefined ? [] : [[`p${index}`, { value: BigInt(used), time: now, windowMs: 15_000 }]],
      ),
    ),
    current,
    tolerance: { up: 0.1, down: 0.1 },
    now,
    ...input,
  })
}

const memory: Partial<MetricInput> = { resource: 'memory' }
const average: Partial<MetricInput> = { target: { averageValue: 50n } }
const sidecar = { name: 's', image: 'i', restartPolicy: 'Always' }

const cases: Readonly<Record<string, Case>> = {
  'usage at the target': { uses: [50, 50], expected: 2 },
  'twice the target': { uses: [100, 100], expected: 4 },
  'a part of a pod is a whole one': { uses: [60, 70, 50], expected: 4 },
  'half of the target': { uses: [25, 25, 25, 25], expected: 2 },
  'nothing at all': { uses: [0, 0], expected: 0 },
  'just within the tolerance above': { uses: [55, 55], expected: 2 },
  'just above it': { uses: [56, 56], expected: 3 },
  'just within the tolerance below': { uses: [45, 45], expected: 2 },
  'a tolerance of its own': { uses: [70, 70], input: { tolerance: { up: 0.5, down: 0.1 } }, expected: 2 },
  'no tolerance': { uses: [51, 51], input: { tolerance: { up: 0, down: 0 } }, expected: 3 },
  'the ready pods count, not the replicas': { uses: [100, 100], current: 3, expected: 4 },
  'a missing pod uses nothing while others use much': { uses: [100, 100, undefined], expected: 4 },
  'a missing pod turns no direction': { uses: [60, undefined, undefined], expected: 3 },
  'a missing pod uses all while others use little': { uses: [10, 10, undefined], expected: 3 },
  'a missing pod lets the others shrink a little': { uses: [0, 0, 0, undefined], expected: 2 },
  'a missing pod above a target over 100 percent': {
    uses: [100, 100, 100, undefined],
    input: { target: { utilization: 200 } },
    expected: 3,
  },
  'a missing pod while usage is at the target': { uses: [50, undefined], expected: 2 },
  'a pending pod uses nothing while others use much': { pods: [settled, pending], uses: [200, undefined], expected: 4 },
  'a pending pod holds growth back': {
    pods: [settled, pending, pending],
    uses: [100, undefined, undefined],
    expected: 3,
  },
  'a pending pod says nothing while others use little': {
    pods: [settled, pending],
    uses: [10, undefined],
    expected: 1,
  },
  'a pod that starts does not count': { pods: [settled, starting], uses: [50, 1000], expected: 2 },
  'a pod that was not ready for a window does not count': { pods: [settled, justReady], uses: [50, 1000], expected: 2 },
  'a young pod that has been ready for long counts': { pods: [settled, readyForLong], uses: [50, 250], expected: 6 },
  'a pod that has never been ready does not count': { pods: [settled, neverReady], uses: [50, 1000], expected: 2 },
  'a pod that is not ready any more counts': { pods: [settled, failing], uses: [50, 250], expected: 6 },
  'a pod of which nothing is known does not count': { pods: [settled, unknown], uses: [50, 1000], expected: 2 },
  'readiness is for CPU alone': {
    pods: [starting, starting],
    uses: [1_048_576_000, 1_048_576_000],
    input: memory,
    expected: 4,
  },
  'a failed pod is none': { pods: [settled, failed], uses: [100, 1000], expected: 2 },
  'an average value': { uses: [100, 100], input: average, expected: 4 },
  'an average value, rounded down': { uses: [55, 56], input: average, expected: 2 },
  'an average value with a missing pod while others use little': {
    uses: [10, 10, undefined],
    input: average,
    expected: 2,
  },
  'an average value with a missing pod while others use much': { uses: [200, undefined], input: average, expected: 4 },
  'an average value needs no requests': { uses: [100], input: average, specs: { containers: [] }, expected: 2 },
  'a pod-level request counts in place of those of containers': {
    uses: [100],
    specs: { resources: { requests: { cpu: '50m' } } },
    expected: 4,
  },
  'a pod-level request for another resource': {
    uses: [100],
    specs: { resources: { requests: { memory: '1Mi' } }, containers: [{ name: 'c', image: 'i' }] },
    expected: 'missing pod-level request for cpu in Pod p0',
  },
  'a sidecar without a request': {
    uses: [100],
    specs: { initContainers: [sidecar] },
    expected: 'missing request for cpu in container s of Pod p0',
  },
  'an init container needs none': { uses: [100], specs: { initContainers: [{ name: 'i', image: 'i' }] }, expected: 2 },
  'a container needs none beside the one that counts': {
    uses: [100],
    input: { container: 'c' },
    specs: { initContainers: [sidecar] },
    expected: 2,
  },
  'a container that is not there': {
    uses: [100],
    input: { container: 'x' },
    expected: 'container x not found in Pod p0',
  },
  'no pods': { uses: [], expected: 'no pods returned by selector while calculating replica count' },
  'no pod that counts': {
    pods: [pending],
    uses: [undefined],
    expected: 'did not receive metrics for targeted pods (pods might be unready)',
  },
}

describe('computeMetricReplicas()', () => {
  for (const [name, each] of Object.entries(cases)) {
    test(name, () => {
      const result = run(each)
      assert.equal(result instanceof Error ? result.message : result.replicas, each.expected)
    })
  }

  test('shows what is used, in percent and for each pod', () => {
    const valueOf = (result: MetricResult | Error) => (result instanceof Error ? result.message : result.value)
    assert.deepEqual(valueOf(run({ uses: [60, 71], expected: 3 })), { averageUtilization: 65, averageValue: '65m' })
    assert.deepEqual(valueOf(run({ uses: [2_097_152_000], input: memory, expected: 4 })), {
      averageUtilization: 200,
      averageValue: '2Mi',
    })
    const odd = run({ uses: [1_048_577_000, 1_048_576_000], input: { ...memory, ...average }, expected: 1 })
    assert.deepEqual(valueOf(odd), { averageValue: '1048576500m' })
  })
})
