import type { ContainerStatus, ResourceRequirements } from '../../model/generated/core-v1.ts'
import type { AppliedResources } from '../../model/pod/observed-pod.ts'
import { RESIZABLE } from '../../model/resources/same-resources.ts'
import { withApplied } from '../../model/resources/with-applied.ts'

type ResourcesStatus = Pick<ContainerStatus, 'allocatedResources' | 'resources'>
type Amounts = Readonly<Record<string, string>>

export interface ResourcesStatusInput {
  /** What the container was granted. */
  readonly allocated?: ResourceRequirements | undefined
  /** What was last set for it, where it runs; undefined when that is unknown. */
  readonly actuated?: ResourceRequirements | undefined
  /** What the runtime reports as set, where the container runs and the runtime reports it. */
  readonly applied?: AppliedResources | undefined
}

/** What a container was granted, and what it really has. */
export function computeResourcesStatus({ allocated, actuated, applied }: ResourcesStatusInput): ResourcesStatus {
  const known = actuated === undefined ? (allocated ?? {}) : withActuated(allocated ?? {}, actuated)
  const seen = applied === undefined ? known : withApplied(known, applied)
  // A side that the spec does not have shows nothing, even where the runtime had to set something.
  const [requests, limits] = (['requests', 'limits'] as const).map((side) =>
    isEmpty(allocated?.[side]) ? {} : seen[side],
  )
  return {
    ...(isEmpty(allocated?.requests) ? {} : { allocatedResources: allocated?.requests }),
    resources: { ...(isEmpty(limits) ? {} : { limits }), ...(isEmpty(requests) ? {} : { requests }) },
  }
}

/** Only what can be resized may differ from what was granted, and a limit that is the whole pod's is not the container's to show. */
function withActuated(
  { requests, limits }: ResourceRequirements,
  actuated: ResourceRequirements,
): ResourceRequirements {
  return { requests: replace(requests, actuated.requests), limits: replace(limits, actuated.limits) }
}

function replace(granted: Amounts = {}, actual: Amounts = {}): Amounts {
  const entries = Object.entries(granted).flatMap(([name, amount]): readonly (readonly [string, string])[] => {
    if (!RESIZABLE.some((resizable) => resizable === name)) return [[name, amount]]
    return actual[name] === undefined ? [] : [[name, actual[name]]]
  })
  return Object.fromEntries(entries)
}

function isEmpty(amounts: Amounts | undefined): boolean {
  return amounts === undefined || Object.keys(amounts).length === 0
}
