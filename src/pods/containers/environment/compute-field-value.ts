import type { ObjectFieldSelector } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

/** What a pod can learn about itself and its node; the first address is the one of the node's primary family. */
export interface PodInfo {
  readonly pod: Pod
  readonly podIps: readonly string[]
  readonly nodeIps: readonly string[]
}

const MAP_ENTRY = /^metadata\.(labels|annotations)\['(.*)'\]$/s

/** The text of one field of the pod, for a variable of its environment. */
export function computeFieldValue({ apiVersion = 'v1', fieldPath }: ObjectFieldSelector, info: PodInfo): string {
  if (apiVersion !== 'v1') throw new ContainerConfigError(`unsupported pod version: ${apiVersion}`)
  const { metadata, spec } = info.pod
  const [, map, key] = MAP_ENTRY.exec(fieldPath) ?? []
  if (map !== undefined && key !== undefined) {
    return ownValue(map === 'labels' ? metadata.labels : metadata.annotations, key)
  }
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name
    case 'metadata.namespace':
      return metadata.namespace
    case 'metadata.uid':
      return metadata.uid
    case 'spec.nodeName':
    case 'spec.host':
      return spec.nodeName ?? ''
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? ''
    case 'status.podIP':
      return info.podIps[0] ?? ''
    case 'status.podIPs':
      return info.podIps.join(',')
    case 'status.hostIP':
      return nodeIps(info)[0] ?? ''
    case 'status.hostIPs':
      return nodeIps(info).join(',')
    default:
      throw new ContainerConfigError(`field label not supported: ${fieldPath}`)
  }
}

/** Without the names that every JavaScript object answers to. */
function ownValue(map: Readonly<Record<string, string>> = {}, key: string): string {
  return Object.hasOwn(map, key) ? (map[key] ?? '') : ''
}

function nodeIps({ nodeIps: ips }: PodInfo): readonly string[] {
  if (ips.length === 0) throw new ContainerConfigError('Cannot give the address of the node: it has none yet')
  return ips
}
