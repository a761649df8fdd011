import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { BackOff, computeBackOff } from '../../base/async/back-off.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { isApiAway } from '../../protocols/kube-api/is-api-away.ts'
import { HintLimit } from '../../protocols/kube-api/list-watch/api-return.ts'
import type { CsiNodeApi } from './csi-node-api.ts'
import type { DriverInfo } from './csi-node-object.ts'
import { CsiNodeWriter, NodeMissingError } from './csi-node-writer.ts'
import { errorText, toError } from '../../base/telemetry/error-text.ts'

export interface CsiNodeObjectsDeps {
  readonly api: CsiNodeApi
  readonly nodeName: string
  /** The reason why the node is not ready has changed, or is gone. */
  readonly onChange: () => void
  /** Only a restart of the agent can help. */
  readonly giveUp: (error: Error) => void
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

// The API rejected it: perhaps another client wrote at the same moment.
const TRIES = { count: 4, firstMs: 10, longestMs: Infinity, factor: 5, jitter: { least: 1, extra: 0.1 } }
// It goes on rejecting: about 140 s in all, as long as the Go kubelet takes before it ends.
const STARTS = { count: 6, firstMs: 30, longestMs: Infinity, factor: 8, jitter: { least: 1, extra: 0.1 } }
const AWAY = { firstMs: 1000, longestMs: 30_000 }
// The watch reports when the Node is there; this is for a watch that fails.
const MISSING_MS = 10_000
const CHECK_PATIENCE_MS = 1000

/** The drivers of this node as the cluster sees them: kept in the Node and CSINode objects, also while the API is away. */
export class CsiNodeObjects {
  readonly #deps: CsiNodeObjectsDeps
  readonly #writer: CsiNodeWriter
  readonly #wakeup = new Wakeup()
  readonly #hints = new HintLimit()
  /** How long it waits for an API that is away; undefined when it does not. */
  #awayMs: number | undefined
  readonly #firstCheck = Promise.withResolvers<void>()
  #problem: string | undefined = 'CSINode is not yet initialized'

  constructor(deps: CsiNodeObjectsDeps) {
    this.#deps = deps
    this.#writer = new CsiNodeWriter(deps.api, deps.nodeName)
  }

  /** Why the node is not ready. */
  problems(): readonly string[] {
    return this.#problem === undefined ? [] : [this.#problem]
  }

  /** Resolves after the first read of the objects, whatever its result, so that a ready node does not turn unready at each start. */
  async firstCheck(signal: AbortSignal): Promise<void> {
    using scope = new AbortScope(signal)
    const patience = this.#deps.clock.sleep(CHECK_PATIENCE_MS, scope.signal)
    patience.catch(() => {})
    await Promise.race([this.#firstCheck.promise, patience])
  }

  /** The Node was read: a Node with another UID needs a CSINode of its own. */
  nodeSeen(node: Node | undefined): void {
    const uid = node?.metadata?.uid
    if (uid !== undefined && uid !== this.#writer.nodeUid) this.#wakeup.wake()
  }

  /** The API answers: what waits for it need not wait longer. */
  apiAnswers(): void {
    if (this.#awayMs !== undefined && this.#hints.take(this.#deps.clock.monotonic(), this.#awayMs)) this.#wakeup.wake()
  }

  /** What is reported for a driver; undefined when nothing is. */
  current(driver: string): DriverInfo | undefined {
    const info = this.#writer.get(driver)
    return info === 'gone' ? undefined : info
  }

  /** Reports a driver. Fails when the API rejects it; while the API is away, the driver is reported as soon as it is back. */
  async install(driver: string, info: DriverInfo, signal: AbortSignal): Promise<void> {
    const before = this.#writer.get(driver)
    this.#writer.set(driver, info)
    try {
      const collision = (await this.#tryToWrite(signal)).get(driver)
      if (collision !== undefined) throw new Error(`Cannot report the topology of the node: ${collision}`)
    } catch (error) {
      if (!signal.aborted && isApiAway(error)) {
        this.#deps.log.warn('cannot report a CSI driver to the API, will try again', { driver, error })
      } else {
        this.#writer.set(driver, before ?? 'gone')
        this.#wakeup.wake()
        throw error
      }
      this.#wakeup.wake()
    }
  }

  /** The driver is gone; the objects follow. */
  uninstall(driver: string): void {
    this.#writer.set(driver, 'gone')
    this.#wakeup.wake()
  }

  /** Makes the CSINode, then keeps both objects up to date until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#initialize(signal)
    for (;;) {
      await this.#wakeup.wait({ clock: this.#deps.clock, ms: undefined }, signal)
      await this.#writePatiently(signal)
    }
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const { clock, giveUp, log } = this.#deps
    for (let rejections = 0; ;) {
      const error = await this.#tryToWrite(signal).then(() => undefined, toError)
      signal.throwIfAborted()
      this.#firstCheck.resolve()
      if (error === undefined) return
      if (isApiAway(error) || error instanceof NodeMissingError) {
        await this.#wakeup.wait({ clock, ms: isApiAway(error) ? AWAY.firstMs : MISSING_MS }, signal)
        continue
      }
      rejections += 1
      log.warn('cannot initialize the CSINode', { tries: rejections, error })
      this.#setProblem(`failed to initialize CSINode: ${error.message}`)
      if (rejections >= STARTS.count) {
        return giveUp(new Error(`Cannot initialize the CSINode: rejected ${rejections} times`, { cause: error }))
      }
      await clock.sleep(computeBackOff(STARTS, rejections, this.#deps.random()), signal)
    }
  }

  async #writePatiently(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let reported: string | undefined
    const backOff = new BackOff(AWAY)
    for (;;) {
      try {
        await this.#tryToWrite(signal)
        return
      } catch (error) {
        signal.throwIfAborted()
        const text = errorText(error)
        if (text !== reported) log.warn('cannot report CSI drivers to the API, will try again', { error })
        reported = text
        this.#awayMs = isApiAway(error) ? backOff.next() : undefined
      }
      await this.#wakeup.wait({ clock, ms: this.#awayMs ?? backOff.next() }, signal)
      this.#awayMs = undefined
    }
  }

  async #tryToWrite(signal: AbortSignal): ReturnType<CsiNodeWriter['write']> {
    for (let tries = 1; ; tries += 1) {
      try {
        const collisions = await this.#writer.write(signal)
        this.#setProblem(undefined)
        return collisions
      } catch (error) {
        signal.throwIfAborted()
        if (tries >= TRIES.count || isApiAway(error) || error instanceof NodeMissingError) throw error
      }
      await this.#deps.clock.sleep(computeBackOff(TRIES, tries, this.#deps.random()), signal)
    }
  }

  #setProblem(problem: string | undefined): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.#deps.onChange()
  }
}
