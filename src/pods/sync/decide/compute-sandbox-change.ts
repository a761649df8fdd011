import { surplusSandboxes } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'

export interface SandboxChange {
  readonly needed: boolean
  readonly attempt: number
  readonly sandboxId: string
}

/**
 * Does the pod need a (new) sandbox? Nothing in the spec but the network mode ever asks for another one. Surplus ones are left over
 * (computeLeftovers): what runs need not end for them.
 */
export function computeSandboxChange(pod: Pod, observed: ObservedPod): SandboxChange {
  const [latest] = observed.sandboxes
  if (latest === undefined) return { needed: true, attempt: 0, sandboxId: '' }
  const renew = { needed: true, attempt: latest.attempt + 1, sandboxId: latest.id }
  const ready = observed.sandboxes.filter((sandbox) => sandbox.ready)
  if (ready.length - surplusSandboxes(observed).length > 1) return renew
  if (!latest.ready) return renew
  const hostNetwork = pod.spec.hostNetwork === true
  if (latest.hostNetwork !== hostNetwork) return { ...renew, sandboxId: '' }
  if (!hostNetwork && latest.ips?.length === 0) return renew
  return { needed: false, attempt: latest.attempt, sandboxId: latest.id }
}
