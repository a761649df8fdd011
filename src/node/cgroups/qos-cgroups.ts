import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { qosCgroupPaths } from '../../model/resources/cgroup-names.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { CgroupDriver } from './cgroup-driver.ts'
import type { CgroupValues } from '../../model/resources/cgroup-values.ts'
import { computePodShare, computeProtectedMemory, computeQosCgroups } from './compute-qos-cgroups.ts'
import type { PodShare, QosSettings } from './compute-qos-cgroups.ts'

export interface QosCgroupsDeps {
  readonly layout: CgroupLayout
  readonly driver: CgroupDriver
  readonly settings: QosSettings
  /** All pods that run or are about to, with their actual resources; undefined while some of them are not known yet. */
  readonly pods: () => readonly Pod[] | undefined
  readonly memoryUsage: (cgroup: string) => bigint | undefined
  /** So much memory is protected now. */
  readonly onProtected?: (sums: NonNullable<ReturnType<typeof computeProtectedMemory>>) => void
  readonly clock: Clock
  readonly log: Logger
}

// Another program may have written to them.
const REPEAT_MS = 60_000

/** Keeps the cgroups of the QoS classes in step with the pods in them. */
export class QosCgroups {
  readonly #deps: QosCgroupsDeps
  readonly #wakeup = new Wakeup()
  readonly #shares = new WeakMap<Pod, PodShare>()
  /** By cgroup: what was written last, as text. */
  #written = new Map<string, string>()
  #failed = false

  constructor(deps: QosCgroupsDeps) {
    this.#deps = deps
  }

  /** Makes the missing ones. An error here fails the start. */
  async start(): Promise<void> {
    const { layout, driver } = this.#deps
    if (!layout.perQos) return
    for (const [cgroup, values] of this.#values(this.#deps.pods() ?? []).slice(1)) {
      if (driver.missing(cgroup).length > 0) await driver.make(cgroup, values)
    }
  }

  /** A pod comes or goes, or all are known. Several changes at a time lead to one write. */
  wake(): void {
    this.#wakeup.wake()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { layout, clock } = this.#deps
    if (!layout.perQos) return
    let repeatAt = clock.monotonic()
    for (;;) {
      if (clock.monotonic() >= repeatAt) {
        this.#written = new Map()
        repeatAt = clock.monotonic() + REPEAT_MS
      }
      await this.#update()
      await this.#wakeup.wait({ clock, ms: Math.max(0, repeatAt - clock.monotonic()) }, signal)
    }
  }

  /** The cgroup of all pods first. */
  #values(known: readonly Pod[]): readonly (readonly [cgroup: string, values: CgroupValues])[] {
    const { layout, settings } = this.#deps
    const shares = known.map((pod) => this.#shareOf(pod))
    const { pods, burstable, bestEffort } = computeQosCgroups(shares, settings)
    const values = [pods, burstable, bestEffort]
    return qosCgroupPaths(layout).map((cgroup, index) => [cgroup, values[index] ?? {}])
  }

  #shareOf(pod: Pod): PodShare {
    const known = this.#shares.get(pod) ?? computePodShare(pod)
    this.#shares.set(pod, known)
    return known
  }

  async #update(): Promise<void> {
    const pods = this.#deps.pods()
    // A starting agent does not know all pods yet, and must not take resources from those that run.
    if (pods === undefined) return
    try {
      for (const [cgroup, values] of this.#values(pods)) await this.#write(cgroup, values)
      this.#failed = false
      const sums = computeProtectedMemory(
        pods.map((pod) => this.#shareOf(pod)),
        this.#deps.settings,
      )
      if (sums !== undefined) this.#deps.onProtected?.(sums)
    } catch (error) {
      if (!this.#failed) this.#deps.log.warn('cannot update the cgroups of the QoS classes, will try again', { error })
      this.#failed = true
    }
  }

  async #write(cgroup: string, values: CgroupValues): Promise<void> {
    const { driver, memoryUsage } = this.#deps
    const text = toText(values)
    if (this.#written.get(cgroup) === text) return
    try {
      await driver.update(cgroup, values)
    } catch (error) {
      // More is in use than should be: at least it grows no further.
      const usage = values.memoryLimitBytes === undefined ? undefined : memoryUsage(cgroup)
      if (usage === undefined || usage <= (values.memoryLimitBytes ?? 0n)) throw error
      await driver.update(cgroup, { ...values, memoryLimitBytes: usage })
    }
    this.#written.set(cgroup, text)
  }
}

function toText(values: CgroupValues): string {
  return JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value instanceof Map ? [...(value as Map<string, bigint>)] : value,
  )
}
