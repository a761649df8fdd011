import { allContainers } from '../../model/pod/pod-containers.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Rejection } from './rejection.ts'

const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/'

/** Rejects a new pod that is to be confined by AppArmor on a node whose kernel has none: it would run unconfined. */
export function computeAppArmorRejection(pod: Pod, node: { readonly appArmor: boolean }): Rejection | undefined {
  const isNew = pod.status?.phase === undefined || pod.status.phase === 'Pending'
  if (node.appArmor || !isNew || !asksForAppArmor(pod)) return undefined
  return { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' }
}

function asksForAppArmor(pod: Pod): boolean {
  const fields = [
    pod.spec.securityContext?.appArmorProfile,
    ...allContainers(pod).map(({ container }) => container.securityContext?.appArmorProfile),
  ]
  return (
    fields.some((profile) => profile !== undefined && profile.type !== 'Unconfined') ||
    Object.entries(pod.metadata.annotations ?? {}).some(
      ([name, value]) => name.startsWith(ANNOTATION_PREFIX) && value !== '' && value !== 'unconfined',
    )
  )
}
