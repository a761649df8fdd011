import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { isProgram } from '../../../system/files/is-program.ts'
import { Nft } from '../../../system/network/nft.ts'
import { ProcessError } from '../../../system/processes/run-process.ts'
import type { StandaloneDeps } from '../node-deps.ts'

/** What the rules of services are written with. */
export type RulesProgram = 'nft' | 'iptables'

export const NFT_MISSING = 'nft is not installed'

/** Why nft cannot be used on this machine: it is not there, or the kernel does not take what it writes. Undefined when it can. */
export async function findNftProblem(
  { clock, programPath, userId }: Pick<StandaloneDeps, 'clock' | 'programPath' | 'userId'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!(await isProgram('nft', programPath))) return NFT_MISSING
  // The kernel answers root alone.
  if (userId !== 0) return undefined
  try {
    await new Nft(clock).listTables(programPath, signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    const said = error instanceof ProcessError ? error.result?.stderr.trim() : undefined
    return `nft fails (${said || errorMessage(error)})`
  }
}

/** The better one of those that the machine has. */
export async function findRulesProgram(
  nftProblem: string | undefined,
  programPath: string,
): Promise<RulesProgram | undefined> {
  if (nftProblem === undefined) return 'nft'
  return (await isProgram('iptables-restore', programPath)) ? 'iptables' : undefined
}
