import type { Node, NodeStatus, NodeSystemInfo } from '../../../model/generated/core-v1.ts'
import { computeNodeAddresses } from './compute-node-addresses.ts'
import { computeNodeConditions } from './compute-node-conditions.ts'
import { computeNodeImages } from './compute-node-images.ts'
import { computeMissingCapacity, computeNodeResources } from './compute-node-resources.ts'
import type { NodeFacts } from './node-facts.ts'
import type { NodeProfile } from './node-profile.ts'

/** A Node object brought up to date. */
export interface NodeOutcome {
  readonly node: Node
  /** Reasons of events: what is now true of the node and was not before. */
  readonly events: readonly string[]
  /** The machine was started anew since the object was last written. */
  readonly rebooted: boolean
  /** What could not be said; the object keeps its old word there. */
  readonly faults: readonly string[]
}

/** What a Node object should say now; of what others put into it, all stays. */
export function computeNodeStatus(
  node: Node,
  { profile, facts, time }: { readonly profile: NodeProfile; readonly facts: NodeFacts; readonly time: string },
): NodeOutcome {
  const before = node.status ?? {}
  const annotations = node.metadata?.annotations ?? {}
  const reach = computeNodeAddresses({ addresses: before.addresses ?? [], annotations }, profile, facts.address)
  const { capacity, allocatable } = computeNodeResources(before, profile.resources, facts.size)
  const missing = computeMissingCapacity(capacity, profile.resources)
  const problems = [
    ...facts.problems,
    ...(missing.length > 0 ? [`missing node capacity for resources: ${missing.join(', ')}`] : []),
  ]
  const { conditions, events } = computeNodeConditions(before.conditions ?? [], { ...facts, problems }, time)
  const status: NodeStatus = {
    ...before,
    ...(typeof reach === 'string' ? {} : { addresses: reach.addresses }),
    capacity,
    allocatable,
    conditions,
    daemonEndpoints: { kubeletEndpoint: { Port: profile.kubeletPort } },
    images: computeNodeImages(facts.images, profile.maxImages),
    nodeInfo: computeNodeInfo(profile, facts),
    runtimeHandlers: [...facts.handlers].sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)),
    ...(facts.supplementalGroupsPolicy === undefined
      ? {}
      : { features: { supplementalGroupsPolicy: facts.supplementalGroupsPolicy } }),
    ...(facts.volumesInUse === undefined ? {} : { volumesInUse: facts.volumesInUse }),
    ...(profile.declaredFeatures === undefined ? {} : { declaredFeatures: profile.declaredFeatures }),
  }
  const metadata = typeof reach === 'string' ? node.metadata : { ...node.metadata, annotations: reach.annotations }
  const bootId = before.nodeInfo?.bootID ?? ''
  return {
    node: { ...node, metadata, status },
    events,
    rebooted: bootId !== '' && bootId !== facts.identity.bootId,
    faults: typeof reach === 'string' ? [reach] : [],
  }
}

function computeNodeInfo(profile: NodeProfile, { identity, swapBytes, runtimeVersion }: NodeFacts): NodeSystemInfo {
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
