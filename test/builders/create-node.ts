import type { NodeInfo } from '../../src/node/registration/status/node-info.ts'
import type { NodeProfile } from '../../src/node/registration/status/node-profile.ts'

/** The node "node-1" as it was set up: nothing special. */
export function createNodeProfile(parts: Partial<NodeProfile> = {}): NodeProfile {
  return {
    nodeName: 'node-1',
    architecture: 'amd64',
    kubeletVersion: 'v1.36.4',
    kubeletPort: 10_250,
    labels: {},
    taints: [],
    providerId: '',
    externalCloud: false,
    controllerAttachDetach: true,
    nodeIps: [],
    maxImages: 50,
    declaredFeatures: undefined,
    resources: { maxPods: 110, podsPerCore: 0, reserved: [], evictionHard: {}, localStorage: true },
    ...parts,
  }
}

/** A healthy machine with two cores. */
export function createNodeInfo(parts: Partial<NodeInfo> = {}): NodeInfo {
  return {
    identity: {
      machineId: 'm-1',
      systemUuid: 's-1',
      bootId: 'b-1',
      kernelVersion: '6.1.0',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
    },
    size: { cpus: 2, memoryBytes: 2n ** 30n, hugepages: [], storageBytes: 2n ** 34n },
    swapBytes: 0n,
    address: { fault: undefined, found: '192.0.2.1' },
    runtimeVersion: 'containerd://2.1.4',
    images: [],
    handlers: [],
    supplementalGroupsPolicy: undefined,
    pressures: { memory: false, disk: false, pid: false },
    problems: [],
    volumesInUse: undefined,
    ...parts,
  }
}
