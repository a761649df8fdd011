import { SupplementalGroupsPolicy } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { SELinuxOption } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { SELinuxOptions } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'

/** What becomes of a user's groups in the image: kept beside the pod's, or not. */
export function supplementalGroupsPolicy(pod: Pod): SupplementalGroupsPolicy {
  return pod.spec.securityContext?.supplementalGroupsPolicy === 'Strict'
    ? SupplementalGroupsPolicy.Strict
    : SupplementalGroupsPolicy.Merge
}

/** The groups of volumes that the pod does not list itself, each once. */
export function extraVolumeGroups(pod: Pod, volumeGroups: readonly number[]): number[] {
  const listed = pod.spec.securityContext?.supplementalGroups ?? []
  return [...new Set(volumeGroups)].filter((group) => !listed.includes(group))
}

/** The label that the runtime puts on processes. */
export function toSelinuxOption(options: SELinuxOptions | undefined): SELinuxOption | undefined {
  if (options === undefined) return undefined
  const { user = '', role = '', type = '', level = '' } = options
  return { user, role, type, level }
}
