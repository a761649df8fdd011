import { LeaseHolder } from './lease-holder.ts'
import type { LeaseHolderDeps } from './lease-holder.ts'

export interface LeaseDeps extends LeaseHolderDeps {
  readonly random: () => number
}

const RENEWALS_PER_DURATION = 4
const JITTER = 0.04

/** Renews the lease of the node four times in its duration, until the signal aborts. The lease stays at the end. */
export async function runLease(deps: LeaseDeps, signal: AbortSignal): Promise<void> {
  const holder = new LeaseHolder(deps)
  const periodMs = (deps.durationSeconds * 1000) / RENEWALS_PER_DURATION
  for (;;) {
    await holder.renew(signal)
    await deps.clock.sleep(periodMs * (1 + JITTER * deps.random()), signal)
  }
}
