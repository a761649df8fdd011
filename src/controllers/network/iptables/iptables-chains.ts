import type { Clock } from '../../../base/async/clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { runRules } from '../nft/run-rules.ts'
import { formatIptablesInput, hasAllJumps } from './iptables-state.ts'
import type { IptablesState } from './iptables-state.ts'

const FAMILIES = ['IPv4', 'IPv6'] as const
type Family = (typeof FAMILIES)[number]

/** The programs of iptables, as the keeper of some chains uses them. */
export interface IptablesRules {
  /** All tables as text. */
  save(family: Family, signal: AbortSignal): Promise<string>
  /** Carries out a text, table by table: all of a table, or nothing. */
  restore(family: Family, text: string, signal: AbortSignal): Promise<void>
}

export interface IptablesChainsOptions {
  /** The names of all our chains begin with it. */
  readonly prefix: string
  /** For the log: "the rules of …". */
  readonly subject: string
  readonly rules: IptablesRules
  readonly clock: Clock
  readonly log: Logger
  /** How long changes are gathered, to be written together. */
  readonly gatherMs: number
}

// Nothing reports that the tables were flushed.
const CHECK_MS = 5000

/**
 * Keeps chains of iptables as they should be: takes over what an earlier process left, writes a table again when something in it changed, and all
 * of them when another program flushed them. They stay when the process ends.
 */
export class IptablesChains {
  readonly #options: IptablesChainsOptions
  readonly #wakeup = new Wakeup()
  /** What the kernel has, by family. */
  readonly #written = new Map<Family, string>()

  constructor(options: IptablesChainsOptions) {
    this.#options = options
  }

  /** Something changed that the rules depend on. */
  wake(): void {
    this.#wakeup.wake()
  }

  /** Calls `sync`, which writes, now, after each change and every few seconds, until the signal aborts. */
  async run(sync: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<never> {
    this.#written.clear()
    const turn = async (s: AbortSignal) => {
      await sync(s)
      return CHECK_MS
    }
    return await runRules({ ...this.#options, wakeup: this.#wakeup }, turn, signal)
  }

  async write(states: Readonly<Partial<Record<Family, IptablesState>>>, signal: AbortSignal): Promise<void> {
    const { prefix, rules, subject, log } = this.#options
    for (const family of FAMILIES) {
      const state = states[family]
      if (state === undefined) continue
      const wanted = formatIptablesInput(state, prefix, '')
      const before = this.#written.get(family)
      const saved = await rules.save(family, signal)
      const isWhole = hasAllJumps(state, prefix, saved)
      if (before !== undefined && !isWhole)
        log.warn(`the rules of ${subject} were removed by another program, writing them again`, { family })
      if (before === wanted && isWhole) continue
      this.#written.delete(family)
      await rules.restore(family, formatIptablesInput(state, prefix, saved), signal)
      this.#written.set(family, wanted)
    }
  }
}
