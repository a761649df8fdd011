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

  /** Chains that drop what is forwarded unless a rule lets it through, as "ip filter FORWARD". */
  async forwardDrops(signal: AbortSignal): Promise<readonly string[]> {
    const [four, six] = [await this.save('IPv4', signal), await this.save('IPv6', signal)]
    return [
      ...parseForwardTables(four).map((table) => `ip ${table} FORWARD`),
      ...parseForwardTables(six).map((table) => `ip6 ${table} FORWARD`),
    ]
  }

  /** Carries out a text, table by table: all of a table, or nothing. What it does not name stays. */
  async restore(family: keyof typeof PROGRAMS, text: string, signal: AbortSignal): Promise<void> {
    const argv = [...this.#enter, `${PROGRAMS[family]}-restore`, '--noflush', ...WAIT]
    await runProcessOrThrow(this.#clock, { argv, stdin: text, deadlineMs: DEADLINE_MS }, signal)
  }
}

/** The tables whose chain FORWARD drops what no rule accepts, of what iptables-save prints. */
export function parseForwardTables(saved: string): readonly string[] {
  return [...saved.matchAll(/^\*(\S+)\n(?::.*\n)*?:FORWARD DROP /gm)].map(([, table = '']) => table)
}
