import type { Clock } from '../../../base/async/clock.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { formatDeviceHealth, parseDeviceHealth } from './device-health-file.ts'
import type { DeviceHealthRecord, Health } from './device-health-file.ts'
import type { StateFile } from '../../../system/files/state/state-file.ts'
import { setAsideBroken } from '../../../system/files/state/state-file.ts'

/** A device by its name. */
export interface DeviceName {
  readonly driver: string
  readonly poolName: string
  readonly deviceName: string
}

/** The health of a device, as its driver reported it. */
export interface ReportedHealth extends Pick<DeviceHealthRecord, 'poolName' | 'deviceName' | 'health' | 'message'> {
  /** 0: as long as is usual. */
  readonly timeoutMs: number
}

export interface DeviceHealthDeps {
  readonly file: StateFile
  readonly clock: Clock
  readonly log: Logger
}

interface Known extends DeviceHealthRecord {
  /** On the monotonic clock. */
  readonly believedUntil: number
}

const USUAL_TIMEOUT_MS = 30_000

/** The health of the devices of drivers: believed for a while, and kept across restarts of the agent. */
export class DeviceHealth {
  readonly #deps: DeviceHealthDeps
  readonly #known = new Map<string, Known>()
  #writing: Promise<void> = Promise.resolve()

  private constructor(deps: DeviceHealthDeps, records: readonly DeviceHealthRecord[]) {
    this.#deps = deps
    const { clock } = deps
    for (const record of records) {
      const age = Math.max(0, clock.now() - record.updatedAt)
      const believedUntil = clock.monotonic() - age + (record.timeoutMs || USUAL_TIMEOUT_MS)
      this.#known.set(keyOf(record), { ...record, believedUntil })
    }
  }

  static async load(deps: DeviceHealthDeps): Promise<DeviceHealth> {
    return new DeviceHealth(deps, await load(deps))
  }

  get(name: DeviceName): { readonly health: Health; readonly message: string } {
    const known = this.#known.get(keyOf(name))
    const isFresh = known !== undefined && this.#deps.clock.monotonic() <= known.believedUntil
    return isFresh ? { health: known.health, message: known.message } : { health: 'Unknown', message: '' }
  }

  /** Takes what a driver says of its devices; gives those that are not as they were. */
  update(driver: string, reported: readonly ReportedHealth[]): readonly DeviceName[] {
    const { clock } = this.#deps
    const [now, updatedAt] = [clock.monotonic(), clock.now()]
    const changed: DeviceName[] = []
    for (const each of reported) {
      const timeoutMs = each.timeoutMs || USUAL_TIMEOUT_MS
      const record = { ...each, driver, timeoutMs, updatedAt, believedUntil: now + timeoutMs }
      const before = this.#known.get(keyOf(record))
      this.#known.set(keyOf(record), record)
      if (before === undefined || !isSame(before, record) || now > before.believedUntil) changed.push(record)
    }
    changed.push(...this.#outdate(driver, reported))
    if (changed.length > 0) this.#save()
    return changed
  }

  /** No plugin reports the health of a driver's devices any more; returns those of which something was known. */
  clear(driver: string): readonly DeviceName[] {
    const gone = [...this.#known.values()].filter((known) => known.driver === driver)
    for (const known of gone) this.#known.delete(keyOf(known))
    if (gone.length > 0) this.#save()
    return gone
  }

  /** Resolves when what is known is on the disk, or could not be written. */
  async saved(): Promise<void> {
    await this.#writing
  }

  /** What the driver no longer speaks of is believed to its end, and then unknown. */
  #outdate(driver: string, reported: readonly ReportedHealth[]): readonly DeviceName[] {
    const now = this.#deps.clock.monotonic()
    const names = new Set(reported.map((each) => keyOf({ ...each, driver })))
    const old = [...this.#known.values()].filter(
      (known) =>
        known.driver === driver && known.health !== 'Unknown' && now > known.believedUntil && !names.has(keyOf(known)),
    )
    for (const known of old) this.#known.set(keyOf(known), { ...known, health: 'Unknown', message: '' })
    return old
  }

  /** The driver reports again what is lost, so no caller waits for it and nothing fails because of it. */
  #save(): void {
    this.#writing = this.#writing.then(async () => {
      try {
        await this.#deps.file.write(formatDeviceHealth([...this.#known.values()]))
      } catch (error) {
        this.#deps.log.warn('cannot write how devices are', { path: this.#deps.file.path, error })
      }
    })
  }
}

function isSame(a: DeviceHealthRecord, b: DeviceHealthRecord): boolean {
  return a.health === b.health && a.message === b.message && a.timeoutMs === b.timeoutMs
}

function keyOf({ driver, poolName, deviceName }: DeviceName): string {
  return `${driver}/${poolName}/${deviceName}`
}

async function load({ file, log }: DeviceHealthDeps): Promise<readonly DeviceHealthRecord[]> {
  try {
    const text = await file.read()
    return text === undefined ? [] : parseDeviceHealth(text)
  } catch (error) {
    log.error('the health of devices cannot be read, drivers report it again', {
      ...(await setAsideBroken(file, error)),
      error,
    })
    return []
  }
}
