import type { Clock } from '../../base/async/clock.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import type { DbusConnection } from '../../system/dbus/dbus-connection.ts'

const LOGIND = {
  destination: 'org.freedesktop.login1',
  path: '/org/freedesktop/login1',
} as const
const MANAGER = 'org.freedesktop.login1.Manager'
const SYSTEMD = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
} as const
const SIGHUP = 1
// Half a minute in all: a machine that boots is busy, and what fails here is not tried again.
const CHECKS = 9
const CHECK_PAUSES = { firstMs: 100, longestMs: Infinity }

export interface LogindDeps {
  readonly bus: Pick<DbusConnection, 'call' | 'onSignal'>
  readonly clock: Clock
  /** Writes the file that raises the longest delay of a shutdown. */
  readonly writeDelayFile: (text: string) => Promise<void>
}

/** What systemd's logind says of shutdowns, and what it is asked for. */
export class Logind {
  readonly #deps: LogindDeps

  constructor(deps: LogindDeps) {
    this.#deps = deps
  }

  /** Ensures that logind lets a shutdown be delayed for so long. */
  async ensureDelay(seconds: number, signal: AbortSignal): Promise<void> {
    const { bus, clock, writeDelayFile } = this.#deps
    const wantedUs = BigInt(seconds) * 1_000_000n
    if ((await this.#readDelay(signal)) >= wantedUs) return
    await writeDelayFile(
      `# Written by the kubelet, which needs this long to end pods\n[Login]\nInhibitDelayMaxSec=${seconds}\n`,
    )
    const body = ['systemd-logind.service', 'all', SIGHUP]
    await bus.call({ ...SYSTEMD, member: 'KillUnit', signature: 'ssi', body }, signal)
    let delayUs = 0n
    for (let checks = 0; checks < CHECKS; checks += 1) {
      if (checks > 0) await clock.sleep(computeBackOff(CHECK_PAUSES, checks), signal)
      delayUs = await this.#readDelay(signal)
      if (delayUs >= wantedUs) return
    }
    throw new Error(
      `Cannot delay shutdowns for ${seconds} s: logind reloaded its configuration, and still allows ${Number(delayUs) / 1e6} s`,
    )
  }

  /** Reports when a shutdown begins (true) or is cancelled (false), until the connection ends. */
  async onShutdown(listener: (begins: boolean) => void, signal: AbortSignal): Promise<void> {
    const { bus } = this.#deps
    const match = { sender: LOGIND.destination, path: LOGIND.path, interface: MANAGER, member: 'PrepareForShutdown' }
    const reported = ([begins]: readonly unknown[]) => {
      if (typeof begins === 'boolean') listener(begins)
    }
    await bus.onSignal(match, reported, signal)
  }

  /** For what happened before the subscription. */
  async isShuttingDown(signal: AbortSignal): Promise<boolean> {
    return (await this.#read('PreparingForShutdown', signal)) === true
  }

  async #readDelay(signal: AbortSignal): Promise<bigint> {
    const delay = await this.#read('InhibitDelayMaxUSec', signal)
    if (typeof delay === 'bigint') return delay
    throw new Error(`Cannot use InhibitDelayMaxUSec of logind: "${String(delay)}", expected a whole number`)
  }

  async #read(property: string, signal: AbortSignal): Promise<unknown> {
    const get = { ...LOGIND, interface: 'org.freedesktop.DBus.Properties', member: 'Get' }
    const [variant] = await this.#deps.bus.call({ ...get, signature: 'ss', body: [MANAGER, property] }, signal)
    return typeof variant === 'object' && 'signature' in variant ? variant.value : undefined
  }
}
