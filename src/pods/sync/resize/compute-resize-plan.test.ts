import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createInstance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { ResourceRequirements } from '../../../model/generated/core-v1.ts'
import type { PodAllocation } from '../../../model/resources/pod-allocation.ts'
import { parseQuantity, quantityValue } from '../../../model/resources/quantity.ts'
import { computePodCgroup } from '../../containers/compute-pod-cgroup.ts'
import { computeResizeActions } from './compute-resize-actions.ts'
import { computeResizePlan } from './compute-resize-plan.ts'
import type { PodSize, ResizePlanInput, ResizeStep } from './compute-resize-plan.ts'

const SETTINGS = {
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: 100_000n,
  podPidsLimit: 0n,
  hugepageSizes: [],
  protectsMemory: false,
  exclusiveCpus: false,
}

const sized = (milli: number, mebi: number): ResourceRequirements => ({
  requests: { cpu: `${milli}m`, memory: `${mebi}Mi` },
  limits: { cpu: `${milli}m`, memory: `${mebi}Mi` },
})
const podOf = (sizes: Readonly<Record<string, ResourceRequirements>>, resources?: ResourceRequirements) =>
  createPod({
    spec: {
      containers: Object.entries(sizes).map(([name, each]) => createContainer({ name, resources: each })),
      ...(resources && { resources }),
    },
  })

function createInput(
  before: Readonly<Record<string, ResourceRequirements>>,
  after: Readonly<Record<string, ResourceRequirements>>,
  parts: Partial<ResizePlanInput> = {},
): ResizePlanInput {
  const pod = podOf(after)
  const actuated: PodAllocation = { containers: new Map(Object.entries(before)), pod: undefined }
  const observed = createObservedPod({ containers: Object.keys(after).map((name) => createInstance({ name })) })
  const actions = computeResizeActions({ pod, observed, actuated }, { killPod: false, kill: [], start: [] })
  return {
    pod,
    actions: actions ?? { updates: [] },
    actuated,
    current: computePodCgroup(podOf(before), SETTINGS),
    wanted: computePodCgroup(pod, SETTINGS),
    usage: { pod: 0n, containers: new Map(Object.keys(after).map((name) => [name, 0n])) },
    ...parts,
  }
}

function describeStep(step: ResizeStep): string {
  if (step.kind === 'done') return 'done'
  if (step.kind === 'container')
    return `${step.name} ${step.resources.limits?.['cpu']} ${step.resources.limits?.['memory']}`
  return Object.entries(step.values)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}

function stepsOf(input: ResizePlanInput): readonly string[] {
  const plan = computeResizePlan(input)
  return plan.kind === 'infeasible' ? [plan.message] : plan.steps.map(describeStep)
}

const MI = 1024n ** 2n

describe('computeResizePlan()', () => {
  test('makes room in the pod before its containers grow', () => {
    assert.deepEqual(stepsOf(createInput({ a: sized(1000, 64) }, { a: sized(2000, 128) })), [
      `memoryLimitBytes=${128n * MI}`,
      'a 1000m 128Mi',
      'done',
      'cpuQuota=200000 cpuPeriod=100000',
      'cpuShares=2048',
      'a 2000m 128Mi',
      'done',
    ])
  })

  test('takes room from the pod after its containers shrank', () => {
    assert.deepEqual(stepsOf(createInput({ a: sized(2000, 128) }, { a: sized(1000, 64) })), [
      'a 2000m 64Mi',
      `memoryLimitBytes=${64n * MI}`,
      'done',
      'a 1000m 64Mi',
      'cpuShares=1024',
      'cpuQuota=100000 cpuPeriod=100000',
      'done',
    ])
  })

  test('lets containers shrink before others grow', () => {
    const input = createInput({ a: sized(1000, 64), b: sized(2000, 64) }, { a: sized(2000, 64), b: sized(1000, 64) })
    assert.deepEqual(stepsOf(input), ['done', 'b 1000m 64Mi', 'a 2000m 64Mi', 'done'])
  })

  test('changes nothing of a pod without a cgroup of its own', () => {
    assert.deepEqual(stepsOf(createInput({ a: sized(1000, 64) }, { a: sized(1000, 128) }, { current: undefined })), [
      'a 1000m 128Mi',
      'done',
      'done',
    ])
  })

  test('takes no limit away', () => {
    const after = { a: { requests: { cpu: '1' } } }
    const input = createInput({ a: sized(1000, 64) }, after)
    assert.deepEqual(
      stepsOf(input).filter((step) => step.includes('=')),
      [],
    )
  })

  test('sets a first limit after the containers have theirs', () => {
    const before = { a: { requests: { cpu: '1000m', memory: '64Mi' } } }
    const current: PodSize = { cpuShares: 1024n, cpuQuota: -1n, cpuPeriod: 100_000n, memoryLimitBytes: undefined }
    assert.deepEqual(stepsOf(createInput(before, { a: sized(1000, 64) }, { current })), [
      'a undefined 64Mi',
      `memoryLimitBytes=${64n * MI}`,
      'done',
      'a 1000m 64Mi',
      'cpuQuota=100000 cpuPeriod=100000',
      'done',
    ])
  })

  test('remembers what the pod as a whole has', () => {
    const [small, large] = [{ limits: { cpu: '1', memory: '1Gi' } }, { limits: { cpu: '2', memory: '2Gi' } }]
    const pod = podOf({ a: {} }, large)
    const plan = computeResizePlan(
      createInput({ a: {} }, { a: {} }, { pod, actuated: { containers: new Map([['a', {}]]), pod: small } }),
    )
    assert.equal(plan.kind, 'steps')
    const done = plan.kind === 'steps' ? plan.steps.filter((step) => step.kind === 'done') : []
    assert.deepEqual(
      done.map(({ podResources }) => podResources?.limits),
      [
        { memory: '2Gi', cpu: '1' },
        { memory: '2Gi', cpu: '2' },
      ],
    )
  })

  test('does not take memory that is in use', () => {
    const usage = { pod: 100n * MI, containers: new Map([['a', 64n * MI]]) }
    assert.deepEqual(stepsOf(createInput({ a: sized(1000, 128) }, { a: sized(2000, 64) }, { usage })), [
      'cannot decrease memory limits: [attempting to set pod memory limit (67108864) below current usage (104857600), ' +
        'attempting to set container "a" memory limit (67108864) below current usage (67108864)]',
    ])
  })

  test('does not take memory of which it is unknown whether it is in use', () => {
    const usage = { pod: 0n, containers: new Map() }
    assert.deepEqual(stepsOf(createInput({ a: sized(1000, 128) }, { a: sized(1000, 64) }, { usage })), [
      'cannot decrease memory limits: missing container "a" memory usage',
    ])
  })

  test('reads no memory usage when only a request shrinks', () => {
    const before = { a: { requests: { memory: '64Mi' }, limits: { memory: '64Mi' } } }
    const after = { a: { requests: { memory: '32Mi' }, limits: { memory: '64Mi' } } }
    const usage = { pod: undefined, containers: new Map() }
    assert.deepEqual(stepsOf(createInput(before, after, { usage })), ['a undefined 64Mi', 'done', 'done'])
  })
})

describe('computeResizePlan() for any two sizes', () => {
  const size = fc.tuple(fc.integer({ min: 10, max: 4000 }), fc.integer({ min: 4, max: 512 }))
  const sizes = fc.array(fc.tuple(size, size), { minLength: 1, maxLength: 4 })

  test('ends with what was granted, and never has less in the pod than in its containers', () => {
    fc.assert(
      fc.property(sizes, (pairs) => {
        const side = (index: 0 | 1) => Object.fromEntries(pairs.map((pair, at) => [`c${at}`, sized(...pair[index])]))
        const input = createInput(side(0), side(1))
        const plan = computeResizePlan(input)
        assert.equal(plan.kind, 'steps')
        let pod: PodSize | undefined = input.current
        const containers = new Map(input.actuated.containers)
        for (const step of plan.kind === 'steps' ? plan.steps : []) {
          if (step.kind === 'pod') pod = { ...(pod as PodSize), ...step.values }
          if (step.kind === 'container') containers.set(step.name, step.resources)
          const limits = [...containers.values()].map(({ limits }) =>
            quantityValue(parseQuantity(limits?.['memory'] ?? '0')),
          )
          assert.ok(limits.reduce((sum, limit) => sum + limit, 0n) <= (pod?.memoryLimitBytes ?? 0n))
        }
        const { cpuShares, cpuQuota, memoryLimitBytes } = input.wanted
        assert.deepEqual(
          [pod?.cpuShares, pod?.cpuQuota, pod?.memoryLimitBytes],
          [cpuShares, cpuQuota, memoryLimitBytes],
        )
        const observed = createObservedPod({
          containers: [...containers.keys()].map((name) => createInstance({ name })),
        })
        const actuated = { containers, pod: undefined }
        const nothing = { killPod: false, kill: [], start: [] }
        assert.equal(computeResizeActions({ pod: input.pod, observed, actuated }, nothing), undefined)
      }),
    )
  })
})
