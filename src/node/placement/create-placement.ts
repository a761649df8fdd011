import type { Clock } from '../../base/async/clock.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PlacementMetrics } from '../../metrics/placement-metrics.ts'
import { computeAffinity, isAdmitted } from './compute-affinity.ts'
import type { HintProvider, PlacementAffinity, PlacementHints, PlacementRejection } from './hint-provider.ts'
import type { PlacementPolicy } from './placement-policy.ts'
import { hasPodResources } from '../../model/resources/has-pod-resources.ts'

export interface PlacementDeps {
  /** Undefined when each provider gives what it has, wherever that is. */
  readonly policy: PlacementPolicy | undefined
  /** In the order in which they give. */
  readonly providers: readonly HintProvider[]
  readonly metrics: Pick<PlacementMetrics, 'podPlaced' | 'placementAligned'>
  readonly clock: Clock
}

const NO_PLACE: PlacementRejection = {
  reason: 'TopologyAffinityError',
  message: 'Resources cannot be allocated with Topology locality',
}
/** The same for pods with resources of their own, by scope. */
const NO_WHOLE_PLACE = {
  container: 'Pod Scope pod with pod-level resources failed admission with a container-level topology manager',
  pod: 'Pod Scope pod with pod-level resources failed admission under pod-scope topology manager',
}
const ANYWHERE: PlacementAffinity = { nodes: undefined, preferred: false }

/** Lets all providers allocate from NUMA nodes that suit all of them, as strictly as the policy says. */
export function createPlacement({ policy, providers, metrics, clock }: PlacementDeps) {
  const release = (uid: PodUid): void => {
    for (const provider of providers) provider.release(uid)
  }
  return {
    /** Why the pod cannot have what it asks for; then it has nothing. */
    admit(pod: Pod): PlacementRejection | undefined {
      const begunAt = clock.monotonic()
      const rejection =
        policy === undefined ? placeAnywhere(pod, providers) : place(pod, { policy, providers, metrics })
      if (rejection !== undefined) release(pod.metadata.uid)
      const milliseconds = clock.monotonic() - begunAt
      metrics.podPlaced({ milliseconds, failed: policy !== undefined && rejection !== undefined })
      return rejection
    },
    /** The pod does not run here after all, or has gone. */
    release,
  }
}

type PlaceDeps = Omit<PlacementDeps, 'clock' | 'policy'> & { readonly policy: PlacementPolicy }

function placeAnywhere(pod: Pod, providers: readonly HintProvider[]): PlacementRejection | undefined {
  return firstRejection(listContainers(pod), (container) => allocate(providers, { pod, container, affinity: ANYWHERE }))
}

function place(pod: Pod, deps: PlaceDeps): PlacementRejection | undefined {
  const { policy, providers } = deps
  const isWhole = policy.podLevel && hasPodResources(pod)
  const noPlace = isWhole ? { ...NO_PLACE, message: NO_WHOLE_PLACE[policy.scope] } : NO_PLACE
  if (policy.scope === 'container')
    return firstRejection(listContainers(pod), (container) =>
      align(
        providers.map((provider) => provider.hints(pod, container)),
        { ...deps, noPlace },
        (affinity) => allocate(providers, { pod, container, affinity }),
      ),
    )
  const giveAll = (provider: HintProvider, affinity: PlacementAffinity) =>
    provider.allocatePod === undefined
      ? firstRejection(listContainers(pod), (container) => provider.allocate(pod, container, affinity))
      : provider.allocatePod(pod, affinity)
  return align(
    providers.map((provider) => provider.podHints(pod)),
    { ...deps, noPlace },
    (affinity) =>
      isWhole
        ? firstRejection(providers, (provider) => giveAll(provider, affinity))
        : firstRejection(listContainers(pod), (container) => allocate(providers, { pod, container, affinity })),
  )
}

/** Gives by one affinity, if there is one that the policy admits. */
function align(
  hints: readonly PlacementHints[],
  { policy, metrics, noPlace }: PlaceDeps & { readonly noPlace: PlacementRejection },
  give: (affinity: PlacementAffinity) => PlacementRejection | undefined,
): PlacementRejection | undefined {
  const affinity = computeAffinity(policy, hints)
  // Only here is a pod that runs known to be aligned.
  const count = (aligned: boolean) => {
    if (policy.kind === 'single-numa-node') metrics.placementAligned(policy.scope, aligned)
  }
  if (!isAdmitted(policy, affinity)) {
    count(false)
    return noPlace
  }
  const rejection = give(affinity)
  if (rejection === undefined) count(true)
  return rejection
}

function allocate(
  providers: readonly HintProvider[],
  {
    pod,
    container,
    affinity,
  }: { readonly pod: Pod; readonly container: Container; readonly affinity: PlacementAffinity },
): PlacementRejection | undefined {
  return firstRejection(providers, (provider) => provider.allocate(pod, container, affinity))
}

function firstRejection<T>(
  items: readonly T[],
  ask: (item: T) => PlacementRejection | undefined,
): PlacementRejection | undefined {
  for (const item of items) {
    const rejection = ask(item)
    if (rejection !== undefined) return rejection
  }
  return undefined
}

function listContainers({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers]
}
