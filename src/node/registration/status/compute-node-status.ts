import type { Node, NodeStatus, NodeSystemInfo } from '../../../model/generated/core-v1.ts'
import { computeNodeAddresses } from './compute-node-addresses.ts'
import { computeNodeConditions } from './compute-node-conditions.ts'
import { computeNodeImages } from './compute-node-images.ts'
import { computeMissingCapacity, computeNodeResources } from './compute-node-resources.ts'
import type { NodeInfo } from './node-info.ts'
import type { NodeProfile } from './node-profile.ts'

/** A Node object with its current status. */
export interface NodeOutcome {
  readonly node: Node
  /** Reasons of events: what is now true of the node and was not before. */
  readonly events: readonly string[]
  /** The machine was rebooted since the object was last written. */
  readonly rebooted: boolean
  /** What is unknown; the object keeps its old value there. */
  readonly faults: readonly string[]
}

/** What a Node object should say now; of what others put into it, all stays. */
export function computeNodeStatus(
  node: Node,
  { profile, info, time }: { readonly profile: NodeProfile; readonly info: NodeInfo; readonly time: string },
): NodeOutcome {
  const before = node.status ?? {}
  const annotations = node.metadata?.annotations ?? {}
  const reach = computeNodeAddresses({ addresses: before.addresses ?? [], annotations }, profile, info.address)
  const { capacity, allocatable } = computeNodeResources(before, profile.resources, info.size)
  const missing = computeMissingCapacity(capacity, profile.resources)
  const problems = [
    ...info.problems,
    ...(missing.length > 0 ? [`missing node capacity for resources: ${missing.join(', ')}`] : []),
  ]
  const { conditions, events } = computeNodeConditions(before.conditions ?? [], { ...info, problems }, time)
  const status: NodeStatus = {
    ...before,
    ...(typeof reach === 'string' ? {} : { addresses: reach.addresses }),
    capacity,
    allocatable,
    conditions,
    daemonEndpoints: { kubeletEndpoint: { Port: profile.kubeletPort } },
    images: computeNodeImages(info.images, profile.maxImages),
    nodeInfo: computeNodeInfo(profile, info),
    runtimeHandlers: [...info.handlers].sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)),
    ...(info.supplementalGroupsPolicy === undefined
      ? {}
      : { features: { supplementalGroupsPolicy: info.supplementalGroupsPolicy } }),
    ...(info.volumesInUse === undefined ? {} : { volumesInUse: info.volumesInUse }),
    ...(profile.declaredFeatures === undefined ? {} : { declaredFeatures: profile.declaredFeatures }),
  }
  const metadata = typeof reach === 'string' ? node.metadata : { ...node.metadata, annotations: reach.annotations }
  const bootId = before.nodeInfo?.bootID ?? ''
  return {
    node: { ...node, metadata, status },
    events,
    rebooted: bootId !== '' && bootId !== info.identity.bootId,
    faults: typeof reach === 'string' ? [reach] : [],
  }
}

function computeNodeInfo(profile: NodeProfile, { identity, swapBytes, runtimeVersion }: NodeInfo): NodeSystemInfo {
  return {
    machineID: identity.machineId,
    systemUUID: identity.systemUuid,
    bootID: identity.bootId,
    kernelVersion: identity.kernelVersion,
    osImage: identity.osImage,
    containerRuntimeVersion: runtimeVersion,
    kubeletVersion: profile.kubeletVersion,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: profile.architecture,
    ...(swapBytes === 0n ? {} : { swap: { capacity: Number(swapBytes) } }),
  }
}
