import type { LinuxContainerResources } from '../../protocols/cri/generated/runtime-v1.ts'
import { cpuQuota, cpuShares } from '../../model/resources/cpu-shares-and-quota.ts'
import { quantityMilliValue, quantityValue } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'

/** Whether and how the kernel enforces CPU limits. */
export interface CpuQuotaSettings {
  readonly cpuCfsQuota: boolean
  readonly cpuCfsQuotaPeriodMicroseconds: bigint
}

export interface CpuAndMemoryAmounts {
  readonly cpuRequest: Quantity | undefined
  readonly cpuLimit: Quantity | undefined
  readonly memoryLimit: Quantity | undefined
}

/** No limit and no weight at all, as an unset message reads. */
export const NO_LINUX_RESOURCES: LinuxContainerResources = {
  cpuPeriod: 0n,
  cpuQuota: 0n,
  cpuShares: 0n,
  memoryLimitInBytes: 0n,
  oomScoreAdj: 0n,
  cpusetCpus: '',
  cpusetMems: '',
  hugepageLimits: [],
  unified: {},
  memorySwapLimitInBytes: 0n,
}

/** CPU and memory in the kernel's terms; a CPU limit without a request counts as the request too. */
export function computeCpuAndMemory(amounts: CpuAndMemoryAmounts, settings: CpuQuotaSettings): LinuxContainerResources {
  const { cpuRequest, cpuLimit, memoryLimit } = amounts
  const period = settings.cpuCfsQuotaPeriodMicroseconds
  return {
    ...NO_LINUX_RESOURCES,
    cpuShares: cpuShares(milli(cpuRequest ?? cpuLimit)),
    ...(settings.cpuCfsQuota ? { cpuPeriod: period, cpuQuota: cpuQuota(milli(cpuLimit), period) } : {}),
    memoryLimitInBytes: memoryLimit === undefined ? 0n : quantityValue(memoryLimit),
  }
}

function milli(amount: Quantity | undefined): bigint {
  return amount === undefined ? 0n : quantityMilliValue(amount)
}
