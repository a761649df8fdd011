import { readTextIfPresent, realFolder } from '../system/files/files-and-folders.ts'
import { checkRoot } from './node/check-requirements.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import { apiUrls, readNodeRecord } from './node/node-record.ts'

export interface KubeconfigOptions {
  readonly state: string
  /** One of those that the node is served on; undefined: the first. */
  readonly address: string | undefined
  /** For a user who may read everything but secrets, in place of the administrator. */
  readonly isReader: boolean
}

/** Prints a kubeconfig file for another machine: that of the node itself, with the address that others reach. */
export async function runKubeconfig(
  deps: Pick<StandaloneDeps, 'say' | 'userId'>,
  { state, address, isReader }: KubeconfigOptions,
): Promise<void> {
  checkRoot(deps.userId)
  const layout = computeNodeLayout(await realFolder(state))
  const record = await readNodeRecord(layout.record)
  if (record === undefined) throw new NodeError(`There is no node in ${state}`, exitCodes.otherState)
  const { addresses = [] } = record
  const chosen = address ?? addresses[0]
  if (chosen === undefined)
    throw new NodeError('Cannot reach this node from elsewhere: start it with "up --address"', exitCodes.otherState)
  if (!addresses.includes(chosen)) {
    const expected = addresses.length === 0 ? 'none: start it with "up --address"' : addresses.join(' or ')
    throw new NodeError(`Cannot use --address "${chosen}": the node is served on ${expected}`, exitCodes.wrongArguments)
  }
  const text = await readTextIfPresent(isReader ? layout.readerKubeconfig : layout.adminKubeconfig)
  if (text === undefined) throw new NodeError('The node has no credentials yet: it was never up', exitCodes.otherState)
  const [url = ''] = apiUrls({ ports: record.ports, addresses: [chosen] }).slice(1)
  deps.say(text.trimEnd().replace(/^( +server: )\S+$/m, (_, key: string) => `${key}${url}`))
}
