import { AbortScope } from '../../base/async/abort-scope.ts'
import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { BackOff, computeBackOff } from '../../base/async/back-off.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { isApiAway } from './csi-node-api.ts'
import type { CsiNodeApi } from './csi-node-api.ts'
import type { DriverInfo } from './csi-node-object.ts'
import { CsiNodeWriter, NodeMissingError } from './csi-node-writer.ts'
import { errorText } from '../../base/telemetry/error-text.ts'

export interface CsiNodeObjectsDeps {
  readonly api: CsiNodeApi
  readonly nodeName: string
  /** Something else stands against the node being ready, or nothing any more. */
  readonly onChange: () => void
  /** There is no way on without a new start. */
  readonly giveUp: (error: Error) => void
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

// The API refused: perhaps somebody else wrote at the same moment.
const TRIES = { count: 4, firstMs: 10, longestMs: Infinity, factor: 5, jitter: { least: 1, extra: 0.1 } }
// It goes on refusing: about 140 s in all, as long as the Go kubelet takes before it ends.
const STARTS = { count: 6, firstMs: 30, longestMs: Infinity, factor: 8, jitter: { least: 1, extra: 0.1 } }
const AWAY = { firstMs: 1000, longestMs: 30_000 }
// Its watch tells when the Node is there; this is for one that cannot.
const MISSING_MS = 10_000
const CHECK_PATIENCE_MS = 1000

/** The drivers of this node as the cluster sees them: kept in the Node and CSINode objects, also over times without an API. */
export class CsiNodeObjects {
  readonly #deps: CsiNodeObjectsDeps
  readonly #writer: CsiNodeWriter
  readonly #wakeup = new Wakeup()
  readonly #looked = Promise.withResolvers<void>()
  #problem: string | undefined = 'CSINode is not yet initialized'

  constructor(deps: CsiNodeObjectsDeps) {
    this.#deps = deps
    this.#writer = new CsiNodeWriter(deps.api, deps.nodeName)
  }

  /** Why the node is not ready. */
  problems(): readonly string[] {
    return this.#problem === undefined ? [] : [this.#problem]
  }

  /** Resolves when the objects were looked at once, whatever came of it: a node that was ready does not seem to falter at each start. */
  async looked(signal: AbortSignal): Promise<void> {
    using scope = new AbortScope(signal)
    const patience = this.#deps.clock.sleep(CHECK_PATIENCE_MS, scope.signal)
    patience.catch(() => {})
    await Promise.race([this.#looked.promise, patience])
  }

  /** The Node was read: another one than before needs a CSINode of its own. */
  nodeSeen(node: Node | undefined): void {
    const uid = node?.metadata?.uid
    if (uid !== undefined && uid !== this.#writer.nodeUid) this.#wakeup.wake()
  }

  /** What is told of a driver; undefined when nothing is. */
  current(driver: string): DriverInfo | undefined {
    const info = this.#writer.get(driver)
    return info === 'gone' ? undefined : info
  }

  /** Tells of a driver. Fails when the API refuses; when it is away, the driver is told of as soon as it is back. */
  async install(driver: string, info: DriverInfo, signal: AbortSignal): Promise<void> {
    const before = this.#writer.get(driver)
    this.#writer.set(driver, info)
    try {
      const collision = (await this.#tryToWrite(signal)).get(driver)
      if (collision !== undefined) throw new Error(`Cannot tell where the node is: ${collision}`)
    } catch (error) {
      if (!signal.aborted && isApiAway(error)) {
        this.#deps.log.warn('cannot tell the API of a CSI driver, will try again', { driver, error })
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

  /** Makes the CSINode, then keeps both objects true until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#initialize(signal)
    for (;;) {
      await this.#wakeup.wait({ clock: this.#deps.clock, ms: undefined }, signal)
      await this.#writePatiently(signal)
    }
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const { clock, giveUp, log } = this.#deps
    for (let refusals = 0; ;) {
      const error = await this.#tryToWrite(signal).then(() => undefined, toError)
      signal.throwIfAborted()
      this.#looked.resolve()
      if (error === undefined) return
      if (isApiAway(error) || error instanceof NodeMissingError) {
        await this.#wakeup.wait({ clock, ms: isApiAway(error) ? AWAY.firstMs : MISSING_MS }, signal)
        continue
      }
      refusals += 1
      log.warn('cannot initialize the CSINode', { tries: refusals, error })
      this.#setProblem(`failed to initialize CSINode: ${error.message}`)
      if (refusals >= STARTS.count) {
        return giveUp(new Error(`Cannot initialize the CSINode: refused ${refusals} times`, { cause: error }))
      }
      await clock.sleep(computeBackOff(STARTS, refusals, this.#deps.random()), signal)
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
        if (text !== reported) log.warn('cannot tell the API of CSI drivers, will try again', { error })
        reported = text
      }
      await this.#wakeup.wait({ clock, ms: backOff.next() }, signal)
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

function toError(error: unknown): Error {
  return Error.isError(error) ? error : new Error(String(error))
}
