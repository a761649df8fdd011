import type { Clock } from '../../base/async/clock.ts'
import { runProcess } from '../processes/run-process.ts'

const DEADLINE_MS = 30_000

/** A conversation that the kernel remembers. */
export interface Flow {
  readonly family: 'ipv4' | 'ipv6'
  readonly source: string
  readonly sourcePort: number
  /** Whom the first packet was sent to. */
  readonly destination: string
  readonly destinationPort: number
  /** Who answers. */
  readonly replySource: string
  readonly replyPort: number
}

/** The program conntrack: which conversations the kernel remembers, and translates. */
export class Conntrack {
  readonly #clock: Clock
  readonly #enter: readonly string[]

  constructor(clock: Clock, enter: readonly string[] = []) {
    this.#clock = clock
    this.#enter = enter
  }

  async listUdp(signal: AbortSignal): Promise<readonly Flow[]> {
    const flows: Flow[] = []
    for (const family of ['ipv4', 'ipv6'] as const) {
      const { stdout } = await this.#run(['-L', '-p', 'udp', '-f', family], signal)
      for (const line of stdout.split('\n')) {
        const flow = parseFlow(line, family)
        if (flow !== undefined) flows.push(flow)
      }
    }
    return flows
  }

  /** Forgets a conversation; one that has ended meanwhile is as good. */
  async forget(flow: Flow, signal: AbortSignal): Promise<void> {
    const { family, source, sourcePort, destination, destinationPort } = flow
    const addresses = ['--orig-src', source, '--orig-dst', destination]
    const ports = ['--sport', String(sourcePort), '--dport', String(destinationPort)]
    await this.#run(['-D', '-p', 'udp', '-f', family, ...addresses, ...ports], signal)
  }

  #run(args: readonly string[], signal: AbortSignal) {
    return runProcess(this.#clock, { argv: [...this.#enter, 'conntrack', ...args], deadlineMs: DEADLINE_MS }, signal)
  }
}

/** Reads a line of "conntrack -L"; undefined for what is none. */
export function parseFlow(line: string, family: Flow['family']): Flow | undefined {
  const values = [...line.matchAll(/\b(src|dst|sport|dport)=(\S+)/g)].map(([, , value = '']) => value)
  const [source, destination, sourcePort, destinationPort, replySource, , replyPort] = values
  if (source === undefined || destination === undefined || replySource === undefined) return undefined
  return {
    family,
    source,
    sourcePort: Number(sourcePort),
    destination,
    destinationPort: Number(destinationPort),
    replySource,
    replyPort: Number(replyPort),
  }
}
