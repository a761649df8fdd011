import type { Container, EphemeralContainer, Int64 } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { KillCause } from './pod-actions.ts'
import { toSeconds } from '../../../model/text/int64.ts'

// What a pod gets that says nothing at all.
const DEFAULT_GRACE_SECONDS = 2
const LEAST_POD_GRACE_SECONDS = 1

/**
 * How long a pod has to end when its end is asked for: the API, and the agent itself when it cannot wait, each only ever
 * shorten it. Zero counts as nothing said, so that a grace of the agent still wins over a zero of the API.
 */
export function computePodGrace(
  pod: Pod,
  said: { readonly recorded: number | undefined; readonly override: number | undefined },
): number {
  const requested = [pod.metadata.deletionGracePeriodSeconds, said.override]
    .filter((desired) => desired !== undefined)
    .map(toSeconds)
  const start = said.recorded ?? 0
  const desired = requested.reduce((grace, desired) => (grace === 0 || desired < grace ? desired : grace), start)
  const untouched = start === 0 && requested.length === 0
  return Math.max(
    LEAST_POD_GRACE_SECONDS,
    untouched ? toSeconds(pod.spec.terminationGracePeriodSeconds ?? LEAST_POD_GRACE_SECONDS) : desired,
  )
}

/** How long a container has to end when its pod goes on: a probe may have a time of its own. */
export function computeContainerGrace(
  pod: Pod,
  kill?: { readonly container: Container | EphemeralContainer | undefined; readonly cause: KillCause },
): number {
  return toSeconds(
    pod.metadata.deletionGracePeriodSeconds ??
      probeGrace(kill) ??
      pod.spec.terminationGracePeriodSeconds ??
      DEFAULT_GRACE_SECONDS,
  )
}

function probeGrace(kill: Parameters<typeof computeContainerGrace>[1]): Int64 | undefined {
  if (kill?.cause === 'liveness') return kill.container?.livenessProbe?.terminationGracePeriodSeconds
  return kill?.cause === 'startup' ? kill.container?.startupProbe?.terminationGracePeriodSeconds : undefined
}
