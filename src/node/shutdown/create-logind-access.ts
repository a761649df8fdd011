import type { Clock } from '../../base/async/clock.ts'
import { openDbus } from '../../system/dbus/dbus-connection.ts'
import type { DbusConnection } from '../../system/dbus/dbus-connection.ts'
import { systemBusAddress } from '../../system/dbus/parse-bus-address.ts'
import { writeFileDurably } from '../../system/files/state/durable-file.ts'
import { holdShutdownLock } from '../../system/machine/hold-shutdown-lock.ts'
import type { ShutdownLock } from '../../system/machine/hold-shutdown-lock.ts'

/** How this machine announces that it shuts down, and how that is delayed. */
export interface LogindAccess {
  readonly connect: (signal: AbortSignal) => Promise<DbusConnection>
  /** Delays shutdowns until it is disposed. */
  readonly lock: (onLost: () => void, signal: AbortSignal) => Promise<ShutdownLock>
  readonly writeDelayFile: (text: string) => Promise<void>
}

interface LogindAccessDeps {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

const DELAY_FILE = '/etc/systemd/logind.conf.d/99-kubelet.conf'

/** The logind of this machine, on its system bus. */
export function createLogindAccess({ environment, clock }: LogindAccessDeps): LogindAccess {
  return {
    connect: (signal) => openDbus({ address: systemBusAddress(environment), clock }, signal),
    lock: (onLost, signal) => holdShutdownLock({ onLost }, signal),
    writeDelayFile: (text) => writeFileDurably(DELAY_FILE, text),
  }
}
