import type { DaemonSetStatus } from '../../../model/generated/api-groups.ts'
import { isAvailable, isReady } from '../pods/pod-availability.ts'
import { isUpdated } from './compute-daemon-plan.ts'
import type { DaemonInput } from './compute-daemon-plan.ts'

/** What the set has on its nodes; of several pods on a node the oldest counts. */
export function computeDaemonStatus({ set, nodes, hash, now }: DaemonInput): DaemonSetStatus {
  const wanted = nodes.filter(({ fit }) => fit.shouldRun)
  const oldest = wanted.map(({ pods }) =>
    pods.toSorted((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1)),
  )
  const count = (holds: (pods: (typeof oldest)[number]) => boolean) => oldest.filter(holds).length
  // Parity: a pod that is on its way out counts for as long as it is ready.
  const available = count(([pod]) => pod !== undefined && isAvailable(pod, set.spec.minReadySeconds ?? 0, now))
  const { collisionCount } = set.status ?? {}
  return {
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: count((pods) => pods.length > 0),
    numberMisscheduled: nodes.filter(({ fit, pods }) => !fit.shouldRun && pods.length > 0).length,
    numberReady: count(([pod]) => pod !== undefined && isReady(pod)),
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
    updatedNumberScheduled: count(([pod]) => pod !== undefined && isUpdated(pod, hash)),
    observedGeneration: set.metadata.generation,
    ...(collisionCount !== undefined && { collisionCount }),
  }
}
