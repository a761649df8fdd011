import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { Container, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import { computeResizeRejection } from './compute-resize-rejection.ts'
import type { ResizeRejection, ResizeRules } from './compute-resize-rejection.ts'

const sized = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
})
const plain: ResizeRules = {
  scope: { initContainers: true, podLevel: true },
  staticCpus: false,
  staticMemory: false,
  usesSwap: () => false,
}

interface Row {
  readonly before?: ResourceRequirements
  readonly after: ResourceRequirements
  readonly container?: Partial<Container>
  readonly wholePod?: ResourceRequirements
  readonly rules?: Partial<ResizeRules>
  readonly expected: ResizeRejection['detail'] | undefined
}

const rows: Readonly<Record<string, Row>> = {
  'anything on a plain node': { after: sized('2', '2Mi'), expected: undefined },
  'CPU of a pod that may have CPUs of its own': {
    after: sized('2', '1Mi'),
    rules: { staticCpus: true },
    expected: 'guaranteed_pod_cpu_manager_static_policy',
  },
  'memory of a pod that may have CPUs of its own': {
    after: sized('1', '2Mi'),
    rules: { staticCpus: true },
    expected: undefined,
  },
  'CPU of a pod without a guarantee, where others have CPUs of their own': {
    before: { requests: { cpu: '1' } },
    after: { requests: { cpu: '2' } },
    rules: { staticCpus: true },
    expected: undefined,
  },
  'memory of a pod that may have memory of its own': {
    after: sized('1', '2Mi'),
    rules: { staticMemory: true },
    expected: 'guaranteed_pod_memory_manager_static_policy',
  },
  'memory of a container with swap': {
    after: sized('1', '2Mi'),
    rules: { usesSwap: () => true },
    expected: 'swap_limitation',
  },
  'memory of a container with swap that restarts for it': {
    after: sized('1', '2Mi'),
    container: { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] },
    rules: { usesSwap: () => true },
    expected: undefined,
  },
  'CPU of a container with swap': { after: sized('2', '1Mi'), rules: { usesSwap: () => true }, expected: undefined },
  'the whole pod where that is switched off': {
    after: sized('1', '1Mi'),
    wholePod: sized('2', '2Mi'),
    rules: { scope: { initContainers: true, podLevel: false } },
    expected: 'plr_feature_gate_off',
  },
}

describe('computeResizeRejection() of', () => {
  for (const [name, { before = sized('1', '1Mi'), after, container = {}, wholePod, rules, expected }] of Object.entries(
    rows,
  )) {
    test(name, () => {
      const create = (resources: ResourceRequirements, whole?: ResourceRequirements) =>
        createPod({
          spec: { containers: [createContainer({ ...container, resources })], ...(whole && { resources: whole }) },
        })
      const input = { pod: create(after, wholePod), allocated: create(before) }
      assert.equal(computeResizeRejection(input, { ...plain, ...rules })?.detail, expected)
    })
  }
})
