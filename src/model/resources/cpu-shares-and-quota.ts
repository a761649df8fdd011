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

// What cgroup v2 takes for cpu.weight.
const MOST_WEIGHT = 10_000n

/** Shares on the scale of cgroup v2, in even steps. Runtimes have a curve of their own for containers. */
export function sharesToWeight(shares: bigint): bigint {
  if (shares >= MOST_SHARES) return MOST_WEIGHT
  const above = shares < FEWEST_SHARES ? 0n : shares - FEWEST_SHARES
  return 1n + (above * (MOST_WEIGHT - 1n)) / (MOST_SHARES - FEWEST_SHARES)
}

/** The shares that a weight of ours stands for, as far as it shows. */
export function weightToShares(weight: bigint): bigint {
  return ((weight - 1n) * (MOST_SHARES - FEWEST_SHARES)) / (MOST_WEIGHT - 1n) + FEWEST_SHARES
}

/** The thousandths of a CPU that a weight stands for, rounded up as it was rounded down when it was made. */
export function sharesToMilliCpu(shares: bigint): bigint {
  return (shares * 1000n + SHARES_PER_CPU - 1n) / SHARES_PER_CPU
}

/** The thousandths of a CPU that a quota allows; undefined when it allows all. */
export function quotaToMilliCpu(quota: bigint, periodMicroseconds: bigint): bigint | undefined {
  return quota <= 0n || periodMicroseconds <= 0n ? undefined : (quota * 1000n) / periodMicroseconds
}
