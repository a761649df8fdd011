import { Writable } from 'node:stream'
import type { Clock } from '../../base/async/clock.ts'
import { runProcess, runProcessOrThrow } from '../processes/run-process.ts'
import { streamProcess } from '../processes/stream-process.ts'

const DEADLINE_MS = 30_000
// A monitor runs until it is stopped.
const FOREVER_MS = 2 ** 31 - 1

/** The names of what a table holds. */
export interface NftNames {
  readonly sets: readonly string[]
  readonly chains: readonly string[]
}

/** The program nft: rules of the kernel's firewall, in tables of family inet. */
export class Nft {
  readonly #clock: Clock
  readonly #enter: readonly string[]
  /** What is passed on to each watcher, and how each learns that it has ended. */
  readonly #watchers = new Map<(line: string) => void, (error: unknown) => void>()
  #monitor: AbortController | undefined

  /** What stands before each command, such as one that enters another network. */
  constructor(clock: Clock, enter: readonly string[] = []) {
    this.#clock = clock
    this.#enter = enter
  }

  /** Fails where the kernel has no such rules. The program is looked for in the folders of a path. */
  async listTables(path: string, signal: AbortSignal): Promise<void> {
    const request = { argv: [...this.#enter, 'nft', 'list', 'tables'], deadlineMs: DEADLINE_MS }
    await runProcessOrThrow(this.#clock, { ...request, environment: { PATH: path } }, signal)
  }

  /** Carries out a text as one transaction: all of it, or nothing. */
  async apply(text: string, signal: AbortSignal): Promise<void> {
    const request = { argv: [...this.#enter, 'nft', '-f', '-'], stdin: text, deadlineMs: DEADLINE_MS }
    await runProcessOrThrow(this.#clock, request, signal)
  }

  /** Undefined when there is no such table. */
  async namesIn(table: string, signal: AbortSignal): Promise<NftNames | undefined> {
    const argv = [...this.#enter, 'nft', '-j', '-t', 'list', 'table', 'inet', table]
    const { exitCode, stdout } = await runProcess(this.#clock, { argv, deadlineMs: DEADLINE_MS }, signal)
    return exitCode === 0 ? parseNames(stdout) : undefined
  }

  /** The rules of a chain as text; empty when it is not there. */
  async rulesOf(table: string, chain: string, signal: AbortSignal): Promise<string> {
    const argv = [...this.#enter, 'nft', 'list', 'chain', 'inet', table, chain]
    const { exitCode, stdout } = await runProcess(this.#clock, { argv, deadlineMs: DEADLINE_MS }, signal)
    return exitCode === 0 ? stdout : ''
  }

  /** Removes a table; one that is not there is as good. */
  async remove(table: string, signal: AbortSignal): Promise<void> {
    await this.apply(`add table inet ${table}\ndelete table inet ${table}\n`, signal)
  }

  /** Chains of any program that drop what is forwarded unless a rule lets it through, as "ip filter FORWARD". */
  async forwardDrops(signal: AbortSignal): Promise<readonly string[]> {
    const argv = [...this.#enter, 'nft', '-j', 'list', 'chains']
    const { exitCode, stdout } = await runProcess(this.#clock, { argv, deadlineMs: DEADLINE_MS }, signal)
    return exitCode === 0 ? parseForwardDrops(stdout) : []
  }

  /** Passes on each line about something that was deleted, by any process, until the signal aborts. */
  async watchDeletions(onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, reject } = Promise.withResolvers<never>()
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    this.#watchers.set(onLine, reject)
    if (this.#monitor === undefined) this.#startMonitor()
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', abort)
      this.#watchers.delete(onLine)
      if (this.#watchers.size === 0) {
        this.#monitor?.abort(new Error('Nothing is watched any more'))
        this.#monitor = undefined
      }
    }
  }

  /** One process for all that watch: each takes some megabytes. */
  #startMonitor(): void {
    const monitor = new AbortController()
    this.#monitor = monitor
    const pass = (line: string) => {
      for (const onLine of this.#watchers.keys()) onLine(line)
    }
    void runMonitor(this.#clock, this.#enter, pass, monitor.signal).catch((error: unknown) => {
      if (this.#monitor !== monitor) return
      this.#monitor = undefined
      const ended = [...this.#watchers.values()]
      this.#watchers.clear()
      for (const reject of ended) reject(error)
    })
  }
}

async function runMonitor(
  clock: Clock,
  enter: readonly string[],
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<never> {
  let rest = ''
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const lines = `${rest}${chunk.toString('utf8')}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
      done()
    },
  })
  // It must not outlive us, also when we are killed.
  const argv = ['setpriv', '--pdeathsig', 'KILL', ...enter, 'nft', 'monitor', 'destroy']
  const { exitCode, stderr } = await streamProcess(clock, { argv, deadlineMs: FOREVER_MS, sink }, signal)
  throw new Error(`Cannot go on with "${argv.join(' ')}": exit code ${exitCode}: ${stderr.trim()}`)
}

interface ListedChain {
  readonly family: string
  readonly table: string
  readonly name: string
  readonly hook?: string
  readonly policy?: string
}

export function parseForwardDrops(text: string): readonly string[] {
  const { nftables = [] } = JSON.parse(text) as { nftables?: readonly { readonly chain?: ListedChain }[] }
  return nftables.flatMap(({ chain }) =>
    chain?.hook === 'forward' && chain.policy === 'drop' ? `${chain.family} ${chain.table} ${chain.name}` : [],
  )
}

function parseNames(text: string): NftNames {
  const { nftables = [] } = JSON.parse(text) as { nftables?: readonly Record<string, { name: string } | undefined>[] }
  const named = (...kinds: readonly string[]) =>
    nftables.flatMap((entry) => kinds.flatMap((kind) => entry[kind]?.name ?? []))
  return { sets: named('set', 'map'), chains: named('chain') }
}
