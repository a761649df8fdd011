import type { Taint } from '../../../model/generated/core-v1.ts'

/** How this node was set up: what of its Node object does not change while the agent runs. */
export interface NodeProfile {
  /** Also the host name: Kubernetes makes no difference between the two. */
  readonly nodeName: string
  /** As Go names it: amd64, arm64 … */
  readonly architecture: string
  readonly kubeletVersion: string
  /** Where the kubelet's own API listens. */
  readonly kubeletPort: number
  /** Labels that were asked for; they win against those that every node has. */
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly Taint[]
  readonly providerId: string
  /** A cloud controller sets up the addresses of this node. */
  readonly externalCloud: boolean
  readonly controllerAttachDetach: boolean
  /** The addresses that were asked for, in canonical form. */
  readonly nodeIps: readonly string[]
  /** -1 is all of them. */
  readonly maxImages: number
  /** Undefined when the node declares nothing. */
  readonly declaredFeatures: readonly string[] | undefined
  readonly resources: ResourceProfile
}

/** How much of the machine pods may have. */
export interface ResourceProfile {
  readonly maxPods: number
  /** 0 is no limit. */
  readonly podsPerCore: number
  /** What is kept back from pods, several lists that add up. */
  readonly reserved: readonly Readonly<Record<string, string>>[]
  /** Hard eviction thresholds by signal, which are kept back as well. */
  readonly evictionHard: Readonly<Record<string, string>>
  /** Whether the disk of the node is a resource of pods. */
  readonly localStorage: boolean
}
