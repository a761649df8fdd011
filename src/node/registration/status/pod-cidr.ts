import type { Clock } from '../../../base/async/clock.ts'
import { Wakeup } from '../../../base/async/wakeup.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { FailureLog } from '../failure-log.ts'

export interface PodCidrDeps {
  readonly calls: Pick<CriCalls, 'updateRuntimeConfig'>
  readonly clock: Clock
  readonly log: Logger
}

const RETRY_MS = 5000

/** Reports the pod CIDRs of this node to the runtime. */
export class PodCidr {
  readonly #deps: PodCidrDeps
  readonly #wakeup = new Wakeup()
  #wanted: string | undefined

  constructor(deps: PodCidrDeps) {
    this.#deps = deps
  }

  /** Several ranges have commas between. */
  set(cidrs: string): void {
    this.#wanted = cidrs
    this.#wakeup.wake()
  }

  /** Reports each change until the runtime has accepted it. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const failures = new FailureLog(this.#deps.log, 'report the pod CIDR to the runtime')
    let reported: string | undefined
    for (;;) {
      const wanted = this.#wanted
      if (wanted !== undefined && wanted !== reported && (await this.#report(wanted, failures, signal)))
        reported = wanted
      await this.#wakeup.wait({ clock, ms: reported === this.#wanted ? undefined : RETRY_MS }, signal)
    }
  }

  async #report(podCidr: string, failures: FailureLog, signal: AbortSignal): Promise<boolean> {
    const { calls, log } = this.#deps
    try {
      await calls.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } }, signal)
      log.info('pods have new addresses', { podCidr })
      failures.worked()
      return true
    } catch (error) {
      signal.throwIfAborted()
      failures.failed(error)
      // A runtime that has no such call finds the addresses elsewhere.
      return error instanceof CriCallError && error.code === 'Unimplemented'
    }
  }
}
