import { makeFolder, writeFileDurably } from '../system/files/state/durable-file.ts'
import { inspectPath } from '../system/files/read-bounded-file.ts'
import { removeTree } from '../system/files/files-and-folders.ts'
import { runProcess } from '../system/processes/run-process.ts'
import { checkRoot } from './node/check-requirements.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'

export interface InstallDeps extends StandaloneDeps {
  /** Path of this command. */
  readonly ownCommand: string
  /** Where systemd keeps units of administrators, and what is there only while systemd runs. */
  readonly systemd: { readonly units: string; readonly running: string }
}

export const SYSTEMD = { units: '/etc/systemd/system', running: '/run/systemd/system' }

const UNIT = 'deckhand.service'
const DEADLINE_MS = 120_000

/** Sets up a service of systemd that runs "deckhand up" with these options, and starts it. */
export async function runInstall(deps: InstallDeps, options: readonly string[], signal: AbortSignal): Promise<void> {
  await checkSystemd(deps)
  const file = `${deps.systemd.units}/${UNIT}`
  await makeFolder(deps.systemd.units)
  await writeFileDurably(file, createUnit([deps.ownCommand, 'up', ...options]), { mode: 0o644 })
  await systemctl(deps, ['daemon-reload'], signal)
  await systemctl(deps, ['enable', '--now', UNIT], signal)
  deps.say(`The node starts now and at each boot: "systemctl status deckhand", "journalctl -u deckhand", ${file}.`)
}

/** Stops the service and removes it; what is not there any more is no fault. */
export async function runUninstall(deps: InstallDeps, signal: AbortSignal): Promise<void> {
  await checkSystemd(deps)
  const file = `${deps.systemd.units}/${UNIT}`
  if ((await inspectPath(file)).kind === 'missing') {
    deps.say('The service is not installed.')
    return
  }
  await systemctl(deps, ['disable', '--now', UNIT], signal)
  await removeTree(file)
  await systemctl(deps, ['daemon-reload'], signal)
  deps.say('The service is gone. Pods and runtime go on: "deckhand down" stops them.')
}

async function checkSystemd({ userId, systemd }: InstallDeps): Promise<void> {
  checkRoot(userId)
  if ((await inspectPath(systemd.running)).kind === 'directory') return
  throw new NodeError(
    'Cannot install a service: systemd does not run on this machine; start "deckhand up --detach" at boot by other means',
    exitCodes.unfitMachine,
  )
}

async function systemctl(deps: InstallDeps, args: readonly string[], signal: AbortSignal): Promise<void> {
  const argv = ['systemctl', ...args]
  const { exitCode, stderr } = await runProcess(deps.clock, { argv, deadlineMs: DEADLINE_MS }, signal)
  if (exitCode === 0) return
  throw new NodeError(
    `Cannot run "${argv.join(' ')}": ${stderr.trim() || `it ended with ${exitCode}`}`,
    exitCodes.failed,
  )
}

/** The unit. Its end leaves pods and runtime alone, as the end of "up" does. */
export function createUnit(command: readonly string[]): string {
  return `# Written by "deckhand install".
[Unit]
Description=Kubernetes node on this machine (Deckhand)
Wants=network-online.target
After=network-online.target dbus.service systemd-logind.service
StartLimitIntervalSec=0

[Service]
ExecStart=${command.map(quote).join(' ')}
Restart=on-failure
RestartSec=5
# Wrong arguments do not become right by trying again; 3: a node was started by hand.
RestartPreventExitStatus=${exitCodes.wrongArguments} ${exitCodes.otherState}
# Only "up" itself is asked to leave: pods, their runtime and the agent's helpers stay.
KillMode=process
# Pods have cgroups of their own below this one's side.
Delegate=yes
LimitNOFILE=1048576
TasksMax=infinity

[Install]
WantedBy=multi-user.target
`
}

/** As systemd reads arguments: percent signs, dollars and backslashes have a meaning of their own. */
function quote(argument: string): string {
  const escaped = argument.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./:=@-]+$/.test(argument) ? argument : `"${escaped}"`
}
