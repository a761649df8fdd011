import { realFolder } from '../system/files/files-and-folders.ts'
import { KUBELET_ROOT } from './node/agent/agent-client.ts'
import { askShutdownSocket, shutdownSocketOf } from './node/agent/shutdown-client.ts'
import { checkRoot } from './node/check-requirements.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'

export interface ShutdownOptions {
  readonly state: string
  /** Of an agent that runs on its own, as "kubelet". */
  readonly rootDirectory: string | undefined
  readonly cancel: boolean
}

const ENDS: Readonly<Record<string, string>> = {
  'begin done': 'All pods have had their time to end; the machine may be shut down.',
  'cancel done': 'The shutdown is cancelled; the node takes pods again.',
  'cancel nothing': 'There was no shutdown to cancel.',
}

/** Asks the agent to end all pods because the machine is going to shut down, and returns when it has; or not to go on with that. */
export async function runShutdown(deps: StandaloneDeps, options: ShutdownOptions, signal: AbortSignal): Promise<void> {
  checkRoot(deps.userId)
  const path = shutdownSocketOf(await findRootDirectory(options))
  const command = options.cancel ? 'cancel' : 'begin'
  const end = await askShutdownSocket({ path, command, say: (line) => deps.say(line) }, signal)
  const reported = ENDS[`${command} ${end}`]
  if (reported === undefined) throw new NodeError(`The shutdown did not come to its end: ${end}`, exitCodes.failed)
  deps.say(reported)
}

/** The agent of the standalone node when there is one, else the one that this machine has as a member of a cluster. */
async function findRootDirectory({ state, rootDirectory }: ShutdownOptions): Promise<string> {
  if (rootDirectory !== undefined) return await realFolder(rootDirectory)
  const layout = computeNodeLayout(await realFolder(state))
  return (await readNodeRecord(layout.record)) === undefined ? KUBELET_ROOT : layout.agentRoot
}
