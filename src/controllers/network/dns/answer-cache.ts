import type { Clock } from '../../../base/async/clock.ts'
import { RCODES } from './dns-message.ts'
import type { DnsRecord, DnsReply } from './dns-message.ts'

const MOST_ENTRIES = 2000
const LONGEST_S = 300
const LONGEST_ABSENT_S = 30

/** Answers of other servers, for as long as they may be remembered; the oldest go first. */
export class AnswerCache {
  readonly #clock: Clock
  readonly #entries = new Map<string, { readonly reply: DnsReply; readonly at: number; readonly seconds: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** With the time to live that is left. */
  get(key: string): DnsReply | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const age = Math.floor((this.#clock.monotonic() - entry.at) / 1000)
    if (age >= entry.seconds) {
      this.#entries.delete(key)
      return undefined
    }
    const { rcode, answers = [], authorities = [], additionals = [] } = entry.reply
    const older = (records: readonly DnsRecord[]) => records.map((record) => withTtl(record, ttlOf(record) - age))
    return { rcode, answers: older(answers), authorities: older(authorities), additionals: older(additionals) }
  }

  put(key: string, reply: DnsReply): void {
    const seconds = secondsOf(reply)
    if (seconds <= 0) return
    this.#entries.delete(key)
    this.#entries.set(key, { reply, at: this.#clock.monotonic(), seconds })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MOST_ENTRIES && oldest !== undefined) this.#entries.delete(oldest)
  }
}

/** Failures are not remembered; the absence of a name as its zone says. */
function secondsOf({ rcode, answers = [], authorities = [] }: DnsReply): number {
  if (rcode !== RCODES.NOERROR && rcode !== RCODES.NXDOMAIN) return 0
  if (answers.length > 0) return Math.min(LONGEST_S, ...answers.map(ttlOf))
  const soa = authorities.find((record) => record.type === 'SOA')
  const minimum = soa?.type === 'SOA' ? (soa.data.minimum ?? 0) : 0
  return soa === undefined ? 0 : Math.min(LONGEST_ABSENT_S, ttlOf(soa), minimum)
}

function ttlOf(record: DnsRecord): number {
  return 'ttl' in record && typeof record.ttl === 'number' ? record.ttl : 0
}

function withTtl(record: DnsRecord, ttl: number): DnsRecord {
  return { ...record, ttl: Math.max(0, ttl) } as DnsRecord
}
