import { isRecord } from '../../base/document/is-record.ts'
import type { CniAttachment } from './compute-plugin-call.ts'

/** What is kept of a pod at a network until it is detached: by which configuration it was attached, and what came of it. */
export interface CniRecord {
  readonly attachment: CniAttachment
  readonly networkName: string
  /** The text of the configuration. */
  readonly configuration: string
  readonly result: unknown
  /** The socket of the Docker whose sandbox this is; empty for the record of another program. */
  readonly owner: string
}

// The format of CNI's own library, which other runtimes keep in the same folder: they and we can detach each other's pods.
const KIND = 'cniCacheV1'

export function recordName({ networkName, attachment }: Pick<CniRecord, 'networkName' | 'attachment'>): string {
  return `${networkName}-${attachment.containerId}-${attachment.device}`
}

export function formatRecord({ attachment, networkName, configuration, result, owner }: CniRecord): string {
  return JSON.stringify({
    kind: KIND,
    containerId: attachment.containerId,
    config: Buffer.from(configuration).toString('base64'),
    ifName: attachment.device,
    networkName,
    netns: attachment.namespace,
    cniArgs: attachment.args,
    capabilityArgs: attachment.capabilities,
    result,
    dockerSocket: owner,
  })
}

/** Undefined for what is no such record. */
export function parseRecord(text: string): CniRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value) || value['kind'] !== KIND) return undefined
  const { containerId, config, ifName, networkName, netns, cniArgs, capabilityArgs, result, dockerSocket } = value
  if (typeof containerId !== 'string' || typeof ifName !== 'string' || typeof networkName !== 'string') return undefined
  if (typeof config !== 'string' || !isRecord(result)) return undefined
  return {
    attachment: {
      containerId,
      namespace: typeof netns === 'string' ? netns : '',
      device: ifName,
      args: Array.isArray(cniArgs) ? cniArgs.filter(isPair) : [],
      capabilities: isRecord(capabilityArgs) ? capabilityArgs : {},
    },
    networkName,
    configuration: Buffer.from(config, 'base64').toString(),
    result,
    owner: typeof dockerSocket === 'string' ? dockerSocket : '',
  }
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string')
}
