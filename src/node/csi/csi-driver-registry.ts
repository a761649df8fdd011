import type { CsiDriver, CsiDrivers } from '../../protocols/csi/csi-drivers.ts'
import type { DriverInfo } from './csi-node-object.ts'
import type { CsiVersion } from '../../protocols/csi/parse-csi-version.ts'

/** A driver that is in use. */
export interface RegisteredDriver {
  readonly driver: CsiDriver
  /** The socket at which it serves. */
  readonly endpoint: string
  readonly version: CsiVersion
  /** Asks it again what it says of this node. */
  readonly readInfo: (signal: AbortSignal) => Promise<DriverInfo>
}

/** The drivers that are registered now, by name. */
export class CsiDriverRegistry implements CsiDrivers {
  readonly #drivers = new Map<string, RegisteredDriver>()
  readonly #listeners: (() => void)[] = []

  /** Calls the listener whenever a driver comes or goes, or more is known of one. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** The cluster says something else of a driver. */
  changed(): void {
    for (const listener of this.#listeners) listener()
  }

  find(name: string): CsiDriver | undefined {
    return this.#drivers.get(name)?.driver
  }

  get(name: string): RegisteredDriver | undefined {
    return this.#drivers.get(name)
  }

  names(): readonly string[] {
    return [...this.#drivers.keys()]
  }

  set(name: string, registered: RegisteredDriver | undefined): void {
    if (registered === undefined) this.#drivers.delete(name)
    else this.#drivers.set(name, registered)
    this.changed()
  }
}
