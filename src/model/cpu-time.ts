// The range that the kernel takes for cpu.shares.
const FEWEST_SHARES = 2n
const MOST_SHARES = 262_144n
const SHARES_PER_CPU = 1024n
const SMALLEST_QUOTA_MICROSECONDS = 1000n

/** The weight of a cgroup against its siblings, for so many thousandths of a CPU. */
export function cpuShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * SHARES_PER_CPU) / 1000n
  if (shares < FEWEST_SHARES) return FEWEST_SHARES
  return shares > MOST_SHARES ? MOST_SHARES : shares
}

/** How long a cgroup may run in each period, for so many thousandths of a CPU; 0 means that nothing is set. */
export function cpuQuota(milliCpu: bigint, periodMicroseconds: bigint): bigint {
  if (milliCpu === 0n) return 0n
  const quota = (milliCpu * periodMicroseconds) / 1000n
  return quota < SMALLEST_QUOTA_MICROSECONDS ? SMALLEST_QUOTA_MICROSECONDS : quota
}

/** The thousandths of a CPU that a weight stands for, rounded up as it was rounded down when it was made. */
export function sharesToMilliCpu(shares: bigint): bigint {
  return (shares * 1000n + SHARES_PER_CPU - 1n) / SHARES_PER_CPU
}

/** The thousandths of a CPU that a quota allows; undefined when it allows all. */
export function quotaToMilliCpu(quota: bigint, periodMicroseconds: bigint): bigint | undefined {
  return quota <= 0n || periodMicroseconds <= 0n ? undefined : (quota * 1000n) / periodMicroseconds
}
