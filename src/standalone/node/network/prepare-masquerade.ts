import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { writeMasquerade } from '../../../controllers/masquerade/masquerade.ts'
import { Nft } from '../../../system/network/nft.ts'
import type { StandaloneDeps } from '../node-deps.ts'
import type { NodeLayout } from '../node-layout.ts'

/** Gives all pods the address of the node towards the outside. False where nft cannot: then the bridge plugin has to do it, for each pod. */
export async function prepareMasquerade(
  deps: Pick<StandaloneDeps, 'clock' | 'say'>,
  {
    services,
    podRanges,
    nftProblem,
  }: Pick<NodeLayout, 'services'> & {
    readonly podRanges: readonly string[]
    readonly nftProblem: string | undefined
  },
  signal: AbortSignal,
): Promise<boolean> {
  if (nftProblem !== undefined) return false
  try {
    const rules = new Nft(deps.clock)
    await writeMasquerade({ table: services.masqueradeTable, podRanges, rules }, signal)
    return true
  } catch (error) {
    signal.throwIfAborted()
    deps.say(`warning: pods get the address of the node by iptables, since nft fails: ${errorMessage(error)}`)
    return false
  }
}
