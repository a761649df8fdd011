import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createNodeInfo, createNodeProfile } from '../../../../test/builders/create-node.ts'
import type { Node } from '../../../model/generated/core-v1.ts'
import { computeInitialNode } from '../compute-initial-node.ts'
import { computeNodeStatus } from './compute-node-status.ts'
import type { NodeInfo } from './node-info.ts'
import type { NodeProfile } from './node-profile.ts'

const time = '2026-01-01T00:00:00Z'
const condition = (type: string, status: string, reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  lastHeartbeatTime: time,
  lastTransitionTime: time,
})

function compute(node: Node, info: Partial<NodeInfo> = {}, profile: Partial<NodeProfile> = {}) {
  return computeNodeStatus(node, { profile: createNodeProfile(profile), info: createNodeInfo(info), time })
}

describe('computeNodeStatus()', () => {
  test('says everything about a node that is new', () => {
    const handler = (name: string) => ({ name, features: { recursiveReadOnlyMounts: true, userNamespaces: false } })
    const info = {
      swapBytes: 1024n,
      images: [{ id: 'i', repoTags: ['a:1'], repoDigests: [], size: 7n }],
      handlers: [handler('runc'), handler('')],
      supplementalGroupsPolicy: true,
      volumesInUse: ['v'],
    }
    const outcome = compute(computeInitialNode(createNodeProfile()), info, { declaredFeatures: ['F'] })
    const amounts = { cpu: '2', memory: '1Gi', pods: '110', 'ephemeral-storage': '16Gi' }
    assert.deepEqual(outcome, {
      node: {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name: 'node-1',
          labels: {
            'kubernetes.io/hostname': 'node-1',
            'kubernetes.io/os': 'linux',
            'kubernetes.io/arch': 'amd64',
            'beta.kubernetes.io/os': 'linux',
            'beta.kubernetes.io/arch': 'amd64',
          },
          annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
        },
        spec: {},
        status: {
          addresses: [
            { type: 'InternalIP', address: '192.0.2.1' },
            { type: 'Hostname', address: 'node-1' },
          ],
          capacity: amounts,
          allocatable: amounts,
          conditions: [
            condition(
              'MemoryPressure',
              'False',
              'KubeletHasSufficientMemory',
              'kubelet has sufficient memory available',
            ),
            condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
            condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
            condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
          ],
          daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
          images: [{ names: ['a:1'], sizeBytes: 7 }],
          nodeInfo: {
            machineID: 'm-1',
            systemUUID: 's-1',
            bootID: 'b-1',
            kernelVersion: '6.1.0',
            osImage: 'Debian GNU/Linux 12 (bookworm)',
            containerRuntimeVersion: 'containerd://2.1.4',
            kubeletVersion: 'v1.36.4',
            kubeProxyVersion: '',
            operatingSystem: 'linux',
            architecture: 'amd64',
            swap: { capacity: 1024 },
          },
          runtimeHandlers: [handler(''), handler('runc')],
          features: { supplementalGroupsPolicy: true },
          volumesInUse: ['v'],
          declaredFeatures: ['F'],
        },
      },
      events: ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'],
      rebooted: false,
      faults: [],
    })
  })

  test('is not ready without the resources that a node must have', () => {
    const size = { ...createNodeInfo().size, storageBytes: undefined }
    const { node } = compute({}, { size, problems: ['no runtime'] })
    assert.equal(
      node.status?.conditions?.at(-1)?.message,
      '[no runtime, missing node capacity for resources: ephemeral-storage]',
    )
  })

  test('keeps the addresses that it has when it cannot say them', () => {
    const before = { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.9' }] } }
    const { node, faults } = compute(before, { address: { fault: 'bad', found: undefined } })
    assert.deepEqual([node.status?.addresses, faults], [before.status.addresses, ['bad']])
  })

  test('keeps what it does not know yet, and what is not its own', () => {
    const status = { volumesInUse: ['v'], features: { supplementalGroupsPolicy: true }, phase: 'Running' }
    const { volumesInUse, features, phase } = compute({ status }).node.status ?? {}
    assert.deepEqual({ volumesInUse, features, phase }, status)
  })

  test('sees that the machine was rebooted', () => {
    const { node } = compute({})
    const identity = { ...createNodeInfo().identity, bootId: 'b-2' }
    assert.deepEqual([compute(node).rebooted, compute(node, { identity }).rebooted], [false, true])
  })
})

describe('computeInitialNode()', () => {
  test('has what was asked for', () => {
    const taints = [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }]
    const node = computeInitialNode(
      createNodeProfile({
        labels: { zone: 'a', 'kubernetes.io/hostname': 'other' },
        taints,
        providerId: 'cloud://1',
        externalCloud: true,
        controllerAttachDetach: false,
      }),
    )
    assert.deepEqual(node, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'node-1',
        labels: {
          'kubernetes.io/hostname': 'other',
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'beta.kubernetes.io/os': 'linux',
          'beta.kubernetes.io/arch': 'amd64',
          zone: 'a',
        },
      },
      spec: {
        taints: [
          ...taints,
          { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
        ],
        providerID: 'cloud://1',
      },
    })
  })
})
