import { allContainers } from '../model/pod-containers.ts'
import type { Pod } from '../model/pod.ts'
import type { KillCause } from './pod-actions.ts'

const LEAST_GRACE_SECONDS = 2

/** How long one container of a living pod gets to end: a probe that failed may have its own grace, longer or shorter than the pod's. */
export function computeKillGrace(pod: Pod, name: string, cause: KillCause): number {
  const container = allContainers(pod).find((one) => one.container.name === name)?.container
  const probe = { liveness: container?.livenessProbe, startup: container?.startupProbe }
  const own = cause === 'liveness' || cause === 'startup' ? probe[cause]?.terminationGracePeriodSeconds : undefined
  const { metadata, spec } = pod
  return metadata.deletionGracePeriodSeconds ?? own ?? spec.terminationGracePeriodSeconds ?? LEAST_GRACE_SECONDS
}
