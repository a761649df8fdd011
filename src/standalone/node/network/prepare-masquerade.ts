import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { writeMasquerade } from '../../../controllers/network/masquerade/masquerade.ts'
import { Iptables } from '../../../system/network/iptables.ts'
import { Nft } from '../../../system/network/nft.ts'
import type { StandaloneDeps } from '../node-deps.ts'
import type { NodeLayout } from '../node-layout.ts'
import type { RulesProgram } from './find-rules-program.ts'

/** Gives all pods the address of the node towards the outside. Undefined where nothing could: then the bridge plugin has to do it, for each pod. */
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
): Promise<RulesProgram | undefined> {
  const iptables = new Iptables(deps.clock)
  const places = [
    ...(nftProblem === undefined
      ? [['nft', { table: services.masqueradeTable, rules: new Nft(deps.clock) }] as const]
      : []),
    ['iptables', { chainPrefix: services.masqueradePrefix, iptables }] as const,
  ]
  for (const [program, place] of places) {
    try {
      await writeMasquerade({ podRanges, ...place }, signal)
      return program
    } catch (error) {
      signal.throwIfAborted()
      deps.say(`warning: the rule that gives pods the address of the node cannot be written: ${errorMessage(error)}`)
    }
  }
  return undefined
}
