import type { Clock } from '../../base/async/clock.ts'
import { runProcessOrThrow } from '../processes/run-process.ts'

const DEADLINE_MS = 30_000
// Another program may be at the tables.
const WAIT = ['-w', '5']
const PROGRAMS = { IPv4: 'iptables', IPv6: 'ip6tables' } as const

/** The programs of iptables, for machines without nft. */
export class Iptables {
  readonly #clock: Clock
  readonly #enter: readonly string[]

  /** What stands before each command, such as one that enters another network. */
  constructor(clock: Clock, enter: readonly string[] = []) {
    this.#clock = clock
    this.#enter = enter
  }

  /** All tables as text. */
  async save(family: keyof typeof PROGRAMS, signal: AbortSignal): Promise<string> {
    const argv = [...this.#enter, `${PROGRAMS[family]}-save`]
    return (await runProcessOrThrow(this.#clock, { argv, deadlineMs: DEADLINE_MS }, signal)).stdout
  }

  /** Carries out a text, table by table: all of a table, or nothing. What it does not name stays. */
  async restore(family: keyof typeof PROGRAMS, text: string, signal: AbortSignal): Promise<void> {
    const argv = [...this.#enter, `${PROGRAMS[family]}-restore`, '--noflush', ...WAIT]
    await runProcessOrThrow(this.#clock, { argv, stdin: text, deadlineMs: DEADLINE_MS }, signal)
  }
}
