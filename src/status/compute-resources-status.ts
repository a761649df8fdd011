import { quotaToMilliCpu, sharesToMilliCpu } from '../model/cpu-time.ts'
import type { ContainerStatus, ResourceRequirements } from '../model/generated/core-v1.ts'
import type { AppliedResources } from '../model/observed-pod.ts'
import { formatQuantity, parseQuantity, quantityMilliValue, quantityValue } from '../model/quantity.ts'

type ResourcesStatus = Pick<ContainerStatus, 'allocatedResources' | 'resources'>
type Amounts = Readonly<Record<string, string>>

const NANOS_PER_MILLI = 1_000_000n
const NANOS_PER_UNIT = 1_000_000_000n
// The kernel cannot weigh or limit less: below that, what it says is only how far it rounded up.
const LEAST_CPU_REQUEST_MILLI = 2n
const LEAST_CPU_LIMIT_MILLI = 10n

/** What a container was given, and what the runtime has really set where it runs and the runtime tells. */
export function computeResourcesStatus(
  allocated: ResourceRequirements | undefined,
  applied: AppliedResources | undefined,
): ResourcesStatus {
  const { requests, limits } = allocated ?? {}
  const seen = applied === undefined ? { requests, limits } : overlay({ requests, limits }, applied)
  return {
    ...(isEmpty(requests) ? {} : { allocatedResources: requests }),
    resources: {
      ...(isEmpty(seen.limits) ? {} : { limits: seen.limits }),
      ...(isEmpty(seen.requests) ? {} : { requests: seen.requests }),
    },
  }
}

function overlay(
  { requests = {}, limits = {} }: Pick<ResourceRequirements, 'requests' | 'limits'>,
  applied: AppliedResources,
): { readonly requests: Amounts; readonly limits: Amounts } {
  const request = applied.cpuShares === 0n ? undefined : sharesToMilliCpu(applied.cpuShares)
  const limit = quotaToMilliCpu(applied.cpuQuota, applied.cpuPeriod)
  return {
    requests: withCpu(requests, request, LEAST_CPU_REQUEST_MILLI),
    limits: withMemory(withCpu(limits, limit, LEAST_CPU_LIMIT_MILLI), applied.memoryLimitBytes),
  }
}

function withCpu(amounts: Amounts, milli: bigint | undefined, noise: bigint): Amounts {
  const allocated = amounts['cpu'] === undefined ? 0n : quantityMilliValue(parseQuantity(amounts['cpu']))
  if (milli === undefined || milli === allocated || (milli <= noise && allocated <= noise)) return amounts
  return { ...amounts, cpu: formatQuantity({ nanos: milli * NANOS_PER_MILLI, format: 'DecimalSI' }) }
}

function withMemory(amounts: Amounts, bytes: bigint): Amounts {
  const allocated = amounts['memory'] === undefined ? 0n : quantityValue(parseQuantity(amounts['memory']))
  if (bytes <= 0n || bytes === allocated) return amounts
  return { ...amounts, memory: formatQuantity({ nanos: bytes * NANOS_PER_UNIT, format: 'BinarySI' }) }
}

function isEmpty(amounts: Amounts | undefined): boolean {
  return amounts === undefined || Object.keys(amounts).length === 0
}
