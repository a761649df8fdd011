import type { LogindAccess } from '../../src/node/shutdown/create-logind-access.ts'
import type { DbusConnection } from '../../src/system/dbus/dbus-connection.ts'

const LONGEST_DELAY_US = 3_600_000_000n

/** A logind in memory that allows long delays, and announces what a test wants. */
export class FakeLogind implements LogindAccess {
  #shutsDown = false
  readonly #listeners = new Set<(body: readonly [boolean]) => void>()

  /** An agent hears what it announces. */
  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  /** The machine begins to shut down, or that is cancelled. */
  announce(shutsDown: boolean): void {
    this.#shutsDown = shutsDown
    for (const listener of this.#listeners) listener([shutsDown])
  }

  readonly connect = async (): Promise<DbusConnection> => {
    const own = new Set<(body: readonly [boolean]) => void>()
    return {
      call: async ({ body = [] }) =>
        body.includes('InhibitDelayMaxUSec')
          ? [{ signature: 't', value: LONGEST_DELAY_US }]
          : [{ signature: 'b', value: this.#shutsDown }],
      onSignal: async (_, listener) => {
        own.add(listener)
        this.#listeners.add(listener)
      },
      closed: new Promise(() => {}),
      [Symbol.dispose]: () => {
        for (const listener of own) this.#listeners.delete(listener)
      },
    }
  }

  readonly lock = async () => ({ isLost: false, [Symbol.dispose]() {} })

  readonly writeDelayFile = async () => {}
}
