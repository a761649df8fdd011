import { BackOff } from '../../../base/async/back-off.ts'
import type { Clock } from '../../../base/async/clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { RULES_RETRY, runRules } from './run-rules.ts'
import { computeNftAdoption, computeNftReplacement, computeNftUpdate } from './compute-nft-update.ts'
import type { KnownNames } from './compute-nft-update.ts'
import type { NftState } from './nft-state.ts'

/** The kernel's rules, as the keeper of a table uses them. */
export interface NftRules {
  apply(text: string, signal: AbortSignal): Promise<void>
  namesIn(table: string, signal: AbortSignal): Promise<KnownNames | undefined>
  rulesOf(table: string, chain: string, signal: AbortSignal): Promise<string>
  remove(table: string, signal: AbortSignal): Promise<void>
  watchDeletions(onLine: (line: string) => void, signal: AbortSignal): Promise<void>
}

export interface NftTableOptions {
  readonly table: string
  /** For the log: "the rules of …". */
  readonly subject: string
  readonly rules: NftRules
  readonly clock: Clock
  readonly log: Logger
  /** How long changes are gathered, to be written together. */
  readonly gatherMs: number
  /** A base chain with rules that none of our own changes touches; a flush removes them. */
  readonly watchedChain: string
  /** What stands in one of the chains, which may be the same, as long as the table is whole. */
  readonly sign: { readonly chain: string; readonly text: string }
}

// Older kernels count references of what was removed a moment longer.
const UNUSED_MS = 2000

/**
 * Keeps one table of nftables as it should be: takes over what an earlier process left, writes only what is different, and writes all of it
 * again when another program removes it. The rules stay when the process ends.
 */
export class NftTable {
  readonly #options: NftTableOptions
  readonly #wakeup = new Wakeup()
  /** What the kernel has; undefined while that is not known, or when there is no table. */
  #written: NftState | undefined
  #isAbsent = false
  #mayAdopt = true
  #isFlushed = false
  #unused: readonly string[] = []
  #startWatch: () => void = () => {}

  constructor(options: NftTableOptions) {
    this.#options = options
  }

  /** Something changed that the rules depend on. */
  wake(): void {
    this.#wakeup.wake()
  }

  /** Calls `sync`, which writes or clears, now, after each change and after the pause that is asked for, until the signal aborts. */
  async run(
    sync: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
    pauseOf: () => number | undefined = () => undefined,
  ): Promise<never> {
    this.#written = undefined
    this.#isAbsent = false
    await using group = new TaskGroup(signal)
    this.#startWatch = () => {
      this.#startWatch = () => {}
      group.run('watch for flushes', (s) => this.#watch(s))
    }
    const turn = async (s: AbortSignal) => {
      if (this.#isFlushed) await this.#checkFlush(s)
      await sync(s)
      return this.#unused.length > 0 ? UNUSED_MS : pauseOf()
    }
    return await runRules({ ...this.#options, wakeup: this.#wakeup }, turn, signal)
  }

  async write(after: NftState, signal: AbortSignal): Promise<void> {
    const { table, rules, subject, log } = this.#options
    this.#startWatch()
    const before = this.#written
    // What fails half way leaves nothing that could be relied on.
    this.#written = undefined
    this.#isAbsent = false
    if (before === undefined) await this.#writeAll(after, signal)
    else {
      const { text, unused } = computeNftUpdate(table, before, after)
      const left = this.#unused.filter((name) => !after.chains.has(name))
      const isIdle = text === ''
      const deletions = isIdle ? left.map((name) => `delete chain inet ${table} ${name}\n`).join('') : ''
      try {
        if (text + deletions !== '') await rules.apply(text + deletions, signal)
      } catch (error) {
        signal.throwIfAborted()
        log.info(`a change of the rules of ${subject} failed, all of them are written`, { error })
        await this.#writeAll(after, signal)
        this.#written = after
        return
      }
      this.#unused = isIdle ? [] : [...left, ...unused]
    }
    this.#written = after
  }

  /** Takes the whole table away; one that is not there is as good. */
  async clear(signal: AbortSignal): Promise<void> {
    if (this.#isAbsent) return
    this.#written = undefined
    this.#unused = []
    await this.#options.rules.remove(this.#options.table, signal)
    this.#mayAdopt = false
    this.#isAbsent = true
  }

  async #writeAll(after: NftState, signal: AbortSignal): Promise<void> {
    const { table, rules, log } = this.#options
    this.#unused = []
    const known = this.#mayAdopt ? await rules.namesIn(table, signal) : undefined
    this.#mayAdopt = false
    if (known !== undefined) {
      const { text, unused } = computeNftAdoption(table, known, after)
      try {
        await rules.apply(text, signal)
        this.#unused = unused
        return
      } catch (error) {
        signal.throwIfAborted()
        log.info('rules of an earlier version are replaced', { table, error })
      }
    }
    await rules.apply(computeNftReplacement(table, after), signal)
  }

  async #checkFlush(signal: AbortSignal): Promise<void> {
    const { table, rules, sign, subject, log } = this.#options
    this.#isFlushed = false
    if (this.#isAbsent || (await rules.rulesOf(table, sign.chain, signal)).includes(sign.text)) return
    log.warn(`the rules of ${subject} were removed by another program, writing them again`, { table })
    this.#written = undefined
  }

  /** Our own changes never touch the base chains once they are there; a flush removes their rules. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { table, rules, watchedChain, subject, clock, log } = this.#options
    const backOff = new BackOff(RULES_RETRY)
    const line = `delete rule inet ${table} ${watchedChain} `
    for (;;) {
      try {
        await rules.watchDeletions((text) => {
          if (!text.startsWith(line)) return
          this.#isFlushed = true
          this.#wakeup.wake()
        }, signal)
      } catch (error) {
        signal.throwIfAborted()
        const pauseMs = backOff.next()
        log.warn(`cannot watch the rules of ${subject}, will try again`, { error, pauseMs })
        await clock.sleep(pauseMs, signal)
        // What happened meanwhile was not seen.
        this.#isFlushed = true
        this.#wakeup.wake()
      }
    }
  }
}
