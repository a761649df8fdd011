import { InjectionsError } from '../../model/pod/injections-error.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { ResourceClaim } from '../../model/resources/resource-claim.ts'
import type { ClaimRecord } from './claim-record.ts'
import type { ClaimDeps } from './claim-deps.ts'
import { computeClaimFault } from './compute-claim-fault.ts'
import { computeClaimNames } from './compute-claim-names.ts'
import type { ClaimName } from './compute-claim-names.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

type Named = Extract<ClaimName, { kind: 'claim' }>

/** The claims of a pod from the API, each of which is allocated and reserved for the pod. Fails with an InjectionsError. */
export async function findPodClaims(
  deps: Pick<ClaimDeps, 'readClaim' | 'rules'>,
  pod: Pod,
  signal: AbortSignal,
): Promise<readonly ClaimRecord[]> {
  const names = computeClaimNames(pod, deps.rules)
  const fault = names.find((claim) => claim.kind === 'fault')
  if (fault !== undefined) throw new InjectionsError(fault.why)
  const wanted = names.filter((claim) => claim.kind === 'claim')
  return await Promise.all(wanted.map((claim) => findClaim(deps, { pod, claim }, signal)))
}

async function findClaim(
  { readClaim, rules }: Pick<ClaimDeps, 'readClaim' | 'rules'>,
  { pod, claim }: { readonly pod: Pod; readonly claim: Named },
  signal: AbortSignal,
): Promise<ClaimRecord> {
  const { namespace } = pod.metadata
  const { name } = claim
  let found: ResourceClaim
  try {
    found = await readClaim({ namespace, name }, signal)
  } catch (error) {
    signal.throwIfAborted()
    const why = errorMessage(error)
    throw new InjectionsError(`fetch ResourceClaim ${name}: ${why}`, { cause: error })
  }
  const fault = computeClaimFault(pod, claim, found, rules)
  if (fault !== undefined) throw new InjectionsError(fault)
  return toRecord(pod, claim, found)
}

function toRecord({ metadata }: Pod, { name }: Named, claim: ResourceClaim): ClaimRecord {
  const results = claim.status?.allocation?.devices?.results ?? []
  return {
    uid: claim.metadata?.uid ?? '',
    namespace: metadata.namespace,
    name,
    podUids: new Set([metadata.uid]),
    drivers: new Map(results.map(({ driver = '' }) => [driver, []])),
    isPrepared: false,
  }
}
