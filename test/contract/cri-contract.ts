import { containerCases } from './container-cases.ts'
import { eventCases } from './event-cases.ts'
import { processCases } from './process-cases.ts'
import { sandboxCases } from './sandbox-cases.ts'
import type { ContractSubject } from './contract-pod.ts'

/** One thing that the agent relies on in a runtime. */
export type ContractCase = (subject: ContractSubject, signal: AbortSignal) => Promise<void>

/** All cases by name; they run on the fake and on containerd, so the fake cannot drift from the truth. */
export const criContract: Readonly<Record<string, ContractCase>> = {
  ...sandboxCases,
  ...containerCases,
  ...processCases,
  ...eventCases,
}
