import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'

const NANOS_PER_UNIT = 1_000_000_000n

/** What the node has is at least what it gave away: a pod that has its devices is not rejected because their plugin is away. */
export function computeRaisedAmounts(amounts: ResourceAmounts, taken: ReadonlyMap<string, number>): ResourceAmounts {
  const raised = [...taken].flatMap(([name, count]) => {
    const nanos = BigInt(count) * NANOS_PER_UNIT
    return (amounts.get(name)?.nanos ?? 0n) < nanos ? [[name, { nanos, format: 'DecimalSI' }] as const] : []
  })
  return new Map([...amounts, ...raised])
}
