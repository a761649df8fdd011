import { quotaToMilliCpu, sharesToMilliCpu } from './cpu-shares-and-quota.ts'
import type { ResourceRequirements } from '../generated/core-v1.ts'
import type { AppliedResources } from '../pod/observed-pod.ts'
import { formatQuantity, parseQuantity, quantityMilliValue, quantityValue } from './quantity.ts'

type Amounts = Readonly<Record<string, string>>

const NANOS_PER_MILLI = 1_000_000n
const NANOS_PER_UNIT = 1_000_000_000n
// The kernel cannot weigh or limit less: below that, what it says is only how far it rounded up.
const LEAST_CPU_REQUEST_MILLI = 2n
const LEAST_CPU_LIMIT_MILLI = 10n

/** The same resources with what the runtime says that it has set. */
export function withApplied(known: ResourceRequirements, applied: AppliedResources): ResourceRequirements {
  const request = applied.cpuShares === 0n ? undefined : sharesToMilliCpu(applied.cpuShares)
  const limit = quotaToMilliCpu(applied.cpuQuota, applied.cpuPeriod)
  return {
    ...known,
    requests: withCpu(known.requests ?? {}, request, LEAST_CPU_REQUEST_MILLI),
    limits: withMemory(withCpu(known.limits ?? {}, limit, LEAST_CPU_LIMIT_MILLI), applied.memoryLimitBytes),
  }
}

function withCpu(amounts: Amounts, milli: bigint | undefined, noise: bigint): Amounts {
  const known = amounts['cpu'] === undefined ? 0n : quantityMilliValue(parseQuantity(amounts['cpu']))
  if (milli === undefined || milli === known || (milli <= noise && known <= noise)) return amounts
  return { ...amounts, cpu: formatQuantity({ nanos: milli * NANOS_PER_MILLI, format: 'DecimalSI' }) }
}

function withMemory(amounts: Amounts, bytes: bigint): Amounts {
  const known = amounts['memory'] === undefined ? 0n : quantityValue(parseQuantity(amounts['memory']))
  if (bytes <= 0n || bytes === known) return amounts
  return { ...amounts, memory: formatQuantity({ nanos: bytes * NANOS_PER_UNIT, format: 'BinarySI' }) }
}
