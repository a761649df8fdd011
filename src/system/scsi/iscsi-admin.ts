import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { runProcess } from '../processes/run-process.ts'

/** A way to a target: one of its portals, through an interface of this machine. */
interface IscsiPath {
  readonly portal: string
  readonly iqn: string
  readonly iface: string
}

/** Names and passwords of CHAP, under the names that open-iscsi has for them. */
export type ChapSecrets = Readonly<Record<string, string>>

/** What the agent has iscsiadm do. What is there already, or gone already, is no failure. */
export interface IscsiAdmin {
  /** The settings of an interface, such as iface.transport_name. */
  interfaceSettings(iface: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** Makes an interface with these settings. */
  makeInterface(iface: string, settings: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void>
  removeInterface(iface: string, signal: AbortSignal): Promise<void>
  /** Asks a portal for its targets, which makes records of them; undefined: without CHAP. */
  discover(path: IscsiPath, chap: ChapSecrets | undefined, signal: AbortSignal): Promise<void>
  login(path: IscsiPath, chap: ChapSecrets | undefined, signal: AbortSignal): Promise<void>
  /** Ends the session and removes its record. Without an interface it is that of any. */
  logout(path: Omit<IscsiPath, 'iface'> & { readonly iface?: string | undefined }, signal: AbortSignal): Promise<void>
}

export interface IscsiAdminDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly run?: typeof runProcess
}

const RECORD_MS = 30_000
// Longer than iscsiadm itself tries by default.
const NETWORK_MS = 150_000

const SESSION_EXISTS = 15
/** No session, no record. */
const GONE: ReadonlySet<number | undefined> = new Set([2, 21])
/** An interface that is not there is an invalid parameter to it. */
const NO_INTERFACE: ReadonlySet<number | undefined> = new Set([...GONE, 6, 7])

const DISCOVERY_KEYS = chapKeys('discovery.sendtargets.auth')
const SESSION_KEYS = chapKeys('node.session.auth')

function chapKeys(prefix: string): readonly string[] {
  return ['username', 'password', 'username_in', 'password_in'].map((name) => `${prefix}.${name}`)
}

interface Call {
  readonly args: readonly string[]
  /** Never shown. */
  readonly secret?: string
  readonly deadlineMs?: number
  readonly accepts?: ReadonlySet<number | undefined>
}

export function createIscsiAdmin({ clock, log, run = runProcess }: IscsiAdminDeps): IscsiAdmin {
  /** A failure names the call without what is secret in it: such errors are events that users read. */
  async function call({ args, secret, deadlineMs = RECORD_MS, accepts }: Call, signal: AbortSignal): Promise<string> {
    const shown = `iscsiadm ${args.join(' ')}`
    const argv = ['iscsiadm', ...args, ...(secret === undefined ? [] : [secret])]
    const result = await run(clock, { argv, deadlineMs }, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      const why = error instanceof DeadlineError ? `did not end within ${deadlineMs} ms` : 'cannot be started'
      // Without the cause, which has the arguments.
      throw new Error(`Cannot run "${shown}": ${why}; is open-iscsi installed on the node?`)
    })
    const { exitCode, stdout, stderr } = result
    if (exitCode === 0 || accepts?.has(exitCode) === true) return stdout
    const said = (stderr.trim() || stdout.trim()).slice(-1000)
    throw new Error(`Cannot run "${shown}": exit code ${exitCode ?? 'none, killed by a signal'}, expected 0: ${said}`)
  }

  /** What only makes things better: without it the volume works too. */
  async function attempt(request: Call, signal: AbortSignal): Promise<void> {
    await call(request, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      log.warn('a setting of iSCSI could not be made, going on', { error })
    })
  }

  async function setChap(
    target: { readonly args: readonly string[]; readonly authMethod: string; readonly keys: readonly string[] },
    secrets: ChapSecrets,
    signal: AbortSignal,
  ): Promise<void> {
    const { args, authMethod, keys } = target
    await call({ args: [...args, '-o', 'update', '-n', authMethod, '-v', 'CHAP'] }, signal)
    for (const key of keys) {
      const secret = secrets[key] ?? ''
      if (secret !== '') await call({ args: [...args, '-o', 'update', '-n', key, '-v'], secret }, signal)
    }
  }

  const ofInterface = (iface: string) => ['-m', 'iface', '-I', iface]
  const ofNode = ({ portal, iqn, iface }: IscsiPath) => ['-m', 'node', '-p', portal, '-T', iqn, '-I', iface]

  return {
    async interfaceSettings(iface, signal) {
      return parseSettings(await call({ args: [...ofInterface(iface), '-o', 'show'] }, signal))
    },

    async makeInterface(iface, settings, signal) {
      const args = ofInterface(iface)
      const accepts = new Set([SESSION_EXISTS])
      await call({ args: [...args, '-o', 'new'], accepts }, signal)
      for (const [name, value] of [...settings].toSorted(([a], [b]) => (a < b ? -1 : 1)))
        await call({ args: [...args, '-o', 'update', '-n', name, '-v', value], accepts }, signal)
    },

    async removeInterface(iface, signal) {
      await call({ args: [...ofInterface(iface), '-o', 'delete'], accepts: NO_INTERFACE }, signal)
    },

    async discover({ portal, iface }, chap, signal) {
      const args = ['-m', 'discoverydb', '-t', 'sendtargets', '-p', portal, '-I', iface]
      // Fails for a record that is there, which is as good.
      await attempt({ args: [...args, '-o', 'new'] }, signal)
      const target = { args, authMethod: 'discovery.sendtargets.auth.authmethod', keys: DISCOVERY_KEYS }
      if (chap !== undefined) await setChap(target, chap, signal)
      try {
        await call({ args: [...args, '--discover'], deadlineMs: NETWORK_MS }, signal)
      } catch (error) {
        signal.throwIfAborted()
        await attempt({ args: [...args, '-o', 'delete'] }, signal)
        throw error
      }
    },

    async login(path, chap, signal) {
      const args = ofNode(path)
      // Other disks of the target are none of this node's, and would stay when they are removed there.
      await attempt({ args: [...args, '-o', 'update', '-n', 'node.session.scan', '-v', 'manual'] }, signal)
      const target = { args, authMethod: 'node.session.auth.authmethod', keys: SESSION_KEYS }
      if (chap !== undefined) await setChap(target, chap, signal)
      try {
        const accepts = new Set([SESSION_EXISTS])
        await call({ args: [...args, '--login'], deadlineMs: NETWORK_MS, accepts }, signal)
      } catch (error) {
        signal.throwIfAborted()
        await attempt({ args: [...args, '-o', 'delete'] }, signal)
        throw error
      }
      // Else a machine that boots waits for a target that may be gone.
      await attempt({ args: [...args, '-o', 'update', '-n', 'node.startup', '-v', 'manual'] }, signal)
    },

    async logout({ portal, iqn, iface }, signal) {
      const args = ['-m', 'node', '-p', portal, '-T', iqn, ...(iface === undefined ? [] : ['-I', iface])]
      await call({ args: [...args, '--logout'], deadlineMs: NETWORK_MS, accepts: GONE }, signal)
      await call({ args: [...args, '-o', 'delete'], accepts: GONE }, signal)
    },
  }
}

/** Lines such as "iface.transport_name = tcp"; what is not set is left out. */
function parseSettings(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, name, value] = /^(iface\.\S+) = (.*)$/.exec(line.trim()) ?? []
    return name === undefined || value === undefined || value === '<empty>' || value === ''
      ? []
      : [[name, value] as const]
  })
  return new Map(lines)
}
