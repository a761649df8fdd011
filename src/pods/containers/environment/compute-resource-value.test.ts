import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { parseAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type { ResourceFieldSelector, ResourceRequirements } from '../../../model/generated/core-v1.ts'
import { computeResourceValue } from './compute-resource-value.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

const main = createContainer({
  resources: {
    requests: { cpu: '100m', memory: '100Mi' },
    limits: { cpu: '1500m', 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '4Mi' },
  },
})
const bare = createContainer({ name: 'bare' })
const setup = createContainer({ name: 'setup', resources: { requests: { memory: '7' } } })
const nodeAllocatable = parseAmounts({ cpu: '3900m', memory: '8Gi', 'ephemeral-storage': '50Gi' })
const value = (selector: ResourceFieldSelector, resources?: ResourceRequirements) => {
  const pod = createPod({ spec: { containers: [main, bare], initContainers: [setup], resources } })
  return computeResourceValue(selector, { pod, container: main, nodeAllocatable })
}

describe('computeResourceValue()', () => {
  const rows: readonly (readonly [ResourceFieldSelector, expected: string, podLevel?: ResourceRequirements])[] = [
    [{ resource: 'requests.cpu' }, '1'],
    [{ resource: 'requests.cpu', divisor: '0' }, '1'],
    [{ resource: 'requests.cpu', divisor: '1' }, '1'],
    [{ resource: 'requests.cpu', divisor: '1m' }, '100'],
    [{ resource: 'limits.cpu' }, '2'],
    [{ resource: 'limits.cpu', divisor: '1m' }, '1500'],
    [{ resource: 'requests.memory' }, '104857600'],
    [{ resource: 'requests.memory', divisor: '1Mi' }, '100'],
    [{ resource: 'requests.memory', divisor: '1Gi' }, '1'],
    [{ resource: 'requests.ephemeral-storage' }, '0'],
    [{ resource: 'limits.ephemeral-storage', divisor: '1Mi' }, '1024'],
    [{ resource: 'limits.hugepages-2Mi' }, '4194304'],
    [{ resource: 'limits.hugepages-1Gi' }, '0'],
    [{ resource: 'limits.memory', divisor: '1Gi' }, '8'],
    [{ resource: 'limits.memory', divisor: '1Gi' }, '2', { limits: { memory: '2Gi' } }],
    [{ resource: 'limits.cpu', containerName: 'bare' }, '4'],
    [{ resource: 'limits.cpu', containerName: 'bare', divisor: '1m' }, '700', { limits: { cpu: '700m' } }],
    [{ resource: 'limits.ephemeral-storage', containerName: 'bare', divisor: '1Gi' }, '50'],
    [{ resource: 'requests.cpu', containerName: 'bare' }, '0'],
    [{ resource: 'requests.memory', containerName: 'setup' }, '7'],
  ]
  for (const [selector, expected, podLevel] of rows) {
    test(`${JSON.stringify(selector)} ${JSON.stringify(podLevel ?? {})}`, () => {
      assert.equal(value(selector, podLevel), expected)
    })
  }

  test('rejects other resources and unknown containers', () => {
    const rejects = (selector: ResourceFieldSelector, message: string) =>
      assert.throws(() => value(selector), new ContainerConfigError(message))
    rejects({ resource: 'limits.gpu' }, 'unsupported container resource: limits.gpu')
    rejects({ resource: 'limits.cpu', containerName: 'gone' }, 'container gone not found')
  })
})
