import { readTextIfPresent } from '../../system/files/files-and-folders.ts'
import { exitCodes, NodeError } from './node-error.ts'
import type { NodePorts } from '../arguments/up-options.ts'
import { toHost } from './network/parse-addresses.ts'

/** What "up" leaves in the state folder for the other commands; a folder without it is not a node's. */
export interface NodeRecord {
  /** A node keeps the name that it had first: its pods are bound to it. */
  readonly nodeName: string
  readonly cgroupRoot: string
  readonly manifests: string
  /** The user's own runtime; absent for our containerd. */
  readonly runtime?: string
  readonly ports: NodePorts
  /** Where API and agent are served for other machines; absent: nowhere. */
  readonly addresses?: readonly string[]
  /** The ports of the ingress; absent: it is not served. */
  readonly ingressPorts?: { readonly http?: number | undefined; readonly https?: number | undefined }
  /** The folder of --apply; absent: none. */
  readonly apply?: string
  /** Parts that are switched off; absent: none. */
  readonly without?: readonly string[]
}

/** Where the Kubernetes API of the node is: for the machine itself, and for others. */
export function apiUrls({ addresses = [], ports }: Pick<NodeRecord, 'addresses' | 'ports'>): readonly string[] {
  return ['127.0.0.1', ...addresses].map((address) => `https://${toHost(address)}:${ports.kubernetes}`)
}

/** Undefined when the folder is not a node's. */
export async function readNodeRecord(file: string): Promise<NodeRecord | undefined> {
  const text = await readTextIfPresent(file)
  if (text === undefined) return undefined
  try {
    return parseNodeRecord(JSON.parse(text))
  } catch (cause) {
    const advice = 'remove it, and "deckhand up" with the same options writes it again'
    const message = `Cannot read "${file}": expected what "deckhand up" wrote there; ${advice}`
    throw new NodeError(message, exitCodes.failed, { cause })
  }
}

function parseNodeRecord(value: unknown): NodeRecord {
  const { nodeName, cgroupRoot, manifests, runtime, ports } = value as Partial<Record<string, unknown>>
  const { kubernetes, agent, healthz } = ports as Partial<Record<string, unknown>>
  const strings = [nodeName, cgroupRoot, manifests, runtime ?? ''].every((field) => typeof field === 'string')
  const numbers = [kubernetes, agent, healthz].every((field) => typeof field === 'number')
  if (!strings || !numbers) throw new Error('A field is missing or of the wrong type')
  return value as NodeRecord
}
