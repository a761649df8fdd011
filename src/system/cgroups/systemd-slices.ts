import type { Clock } from '../../base/async/clock.ts'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { computeBackOff } from '../../base/async/back-off.ts'
import { openDbus } from '../dbus/dbus-connection.ts'
import type { DbusConnection } from '../dbus/dbus-connection.ts'
import { DbusCallError } from '../dbus/dbus-error.ts'
import type { DbusValue, DbusVariant } from '../dbus/dbus-value.ts'

/** One property of a unit, as systemd's manual names them. */
export type UnitProperty = readonly [name: string, value: DbusVariant]

/** Slices of systemd: cgroups that it makes, remembers and removes. */
export interface SystemdSlices {
  /** Resolves when the slice is there; one that is there already gets these properties. */
  start(slice: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void>
  set(slice: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void>
  /** Ends everything in it; nothing happens where there is none. */
  stop(slice: string, signal: AbortSignal): Promise<void>
}

const SYSTEMD = 'org.freedesktop.systemd1'
const MANAGER = { destination: SYSTEMD, path: '/org/freedesktop/systemd1', interface: `${SYSTEMD}.Manager` } as const
const JOB_DEADLINE_MS = 30_000
// For a systemd that is away for a moment, 13 s in all, besides the time in which it does not answer.
const TRIES = 8
const PAUSES = { firstMs: 100, longestMs: Infinity }
const AWAY = ['NoReply', 'ServiceUnknown', 'NameHasNoOwner', 'Disconnected'].map(
  (name) => `org.freedesktop.DBus.Error.${name}`,
)

interface Request {
  readonly member: string
  readonly signature: string
  readonly body: readonly DbusValue[]
}

interface SlicesOptions {
  readonly address: string
  readonly clock: Clock
  /** The bus or systemd is there and does not answer yet, as on a machine that boots under load. */
  readonly onSilence: (error: Error) => void
}

/**
 * Asks systemd over the system's message bus. Fails when there is none: who asks has to know before anything depends on it. One that is there and
 * silent is asked again until it answers.
 */
export async function openSystemdSlices(
  options: SlicesOptions,
  signal: AbortSignal,
): Promise<SystemdSlices & Disposable> {
  const slices = new BusSlices(options)
  for (;;) {
    try {
      const connection = await slices.connect(signal)
      // A bus may well be there without systemd.
      await connection.call({ ...MANAGER, interface: 'org.freedesktop.DBus.Peer', member: 'Ping' }, signal)
      return slices
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error
      options.onSilence(error)
    }
  }
}

class BusSlices implements SystemdSlices, Disposable {
  readonly #options: Pick<SlicesOptions, 'address' | 'clock'>
  /** By the name of the unit: who waits for its job. */
  readonly #jobs = new Map<string, (result: string) => void>()
  #connection: Promise<DbusConnection> | undefined

  constructor(options: Pick<SlicesOptions, 'address' | 'clock'>) {
    this.#options = options
  }

  /** One connection for all; a new one when it is lost. */
  connect(signal: AbortSignal): Promise<DbusConnection> {
    this.#connection ??= this.#open(signal).catch((error: unknown) => {
      this.#connection = undefined
      throw error
    })
    return this.#connection
  }

  async start(slice: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void> {
    const request = { member: 'StartTransientUnit', signature: 'ssa(sv)a(sa(sv))' }
    try {
      await this.#runJob(slice, { ...request, body: [slice, 'replace', properties, []] }, signal)
    } catch (error) {
      if (!isCallError(error, 'UnitExists')) throw error
      await this.set(slice, properties.filter(isChangeable), signal)
    }
  }

  async set(slice: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void> {
    const request = { member: 'SetUnitProperties', signature: 'sba(sv)', body: [slice, true, properties] }
    await this.#call(await this.connect(signal), request, signal)
  }

  async stop(slice: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#runJob(slice, { member: 'StopUnit', signature: 'ss', body: [slice, 'replace'] }, signal)
    } catch (error) {
      if (!isCallError(error, 'NoSuchUnit')) throw error
    }
  }

  [Symbol.dispose](): void {
    this.#connection?.then(
      (connection) => connection[Symbol.dispose](),
      () => {}, // There is none.
    )
  }

  async #open(signal: AbortSignal): Promise<DbusConnection> {
    const connection = await openDbus(this.#options, signal)
    const removed = { sender: SYSTEMD, path: MANAGER.path, interface: MANAGER.interface, member: 'JobRemoved' }
    const onRemoved = ([, , unit, result]: readonly DbusValue[]) => {
      if (typeof unit === 'string' && typeof result === 'string') this.#jobs.get(unit)?.(result)
    }
    try {
      await connection.onSignal(removed, onRemoved, signal)
    } catch (error) {
      connection[Symbol.dispose]()
      throw error
    }
    void connection.closed.then(() => (this.#connection = undefined)) // Never rejects.
    return connection
  }

  /** A systemd that starts itself again (daemon-reexec) never answers the calls of that moment, one under load late. Each of ours can be made twice. */
  async #call(connection: DbusConnection, request: Request, signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await connection.call({ ...MANAGER, ...request }, signal)
        return
      } catch (error) {
        if (!isAway(error) || tries === TRIES) throw error
      }
      await this.#options.clock.sleep(computeBackOff(PAUSES, tries), signal)
    }
  }

  /** A call that only begins the work: systemd reports at its end how that went. */
  async #runJob(slice: string, request: Request, signal: AbortSignal): Promise<void> {
    const connection = await this.connect(signal)
    const ended = Promise.withResolvers<string>()
    // Before the call: the end may be reported together with the reply to it.
    this.#jobs.set(slice, ended.resolve)
    const { clock } = this.#options
    const what = `${request.member} of "${slice}"`
    try {
      await this.#call(connection, request, signal)
      const lost = connection.closed.then((error) => Promise.reject(error))
      const wait = (until: AbortSignal) => waitForShared(Promise.race([ended.promise, lost]), until)
      const result = await withDeadline({ clock, ms: JOB_DEADLINE_MS, what }, wait, signal)
      if (result !== 'done') throw new Error(`Cannot do ${what}: systemd says "${result}", expected "done"`)
    } finally {
      this.#jobs.delete(slice)
    }
  }
}

/** What a unit is made with and keeps. */
function isChangeable([name]: UnitProperty): boolean {
  return name !== 'Wants' && name !== 'DefaultDependencies' && name !== 'Description'
}

function isAway(error: unknown): boolean {
  return error instanceof DeadlineError || (error instanceof DbusCallError && AWAY.includes(error.errorName))
}

function isCallError(error: unknown, name: string): boolean {
  return error instanceof DbusCallError && error.errorName === `${SYSTEMD}.${name}`
}
