import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { DriverMarks } from './compute-driver-marks.ts'
import type { CsiNode } from './csi-node-object.ts'

/** The requests about this node's drivers. They fail as those of a KubeClient do. */
export interface CsiNodeApi {
  /** Undefined while there is none; as with the CSINode. */
  getNode(signal: AbortSignal): Promise<Node | undefined>
  patchNode(patch: NonNullable<DriverMarks['patch']>, signal: AbortSignal): Promise<Node>
  getCsiNode(signal: AbortSignal): Promise<CsiNode | undefined>
  createCsiNode(object: CsiNode, signal: AbortSignal): Promise<CsiNode>
  replaceCsiNode(object: CsiNode, signal: AbortSignal): Promise<CsiNode>
  deleteCsiNode(signal: AbortSignal): Promise<void>
}

const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes'
const REQUEST_MS = 10_000

/** The API calls with which a node reports its drivers. */
export function createCsiNodeApi(client: Pick<KubeClient, 'send'>, nodeName: string): CsiNodeApi {
  const send = <T>(request: KubeRequest, signal: AbortSignal) =>
    client.send<T>({ ...request, timeoutMs: REQUEST_MS }, signal)
  const find = <T>(path: string, signal: AbortSignal) =>
    send<T>({ method: 'GET', path }, signal).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
  const node = `/api/v1/nodes/${nodeName}`
  const csiNode = `${CSI_NODES}/${nodeName}`
  return {
    getNode: (signal) => find(node, signal),
    // A node may change labels and annotations of its own there, and the spec nowhere.
    patchNode: (body, signal) =>
      send(
        { method: 'PATCH', path: `${node}/status`, body, contentType: 'application/strategic-merge-patch+json' },
        signal,
      ),
    getCsiNode: (signal) => find(csiNode, signal),
    createCsiNode: (body, signal) => send({ method: 'POST', path: CSI_NODES, body }, signal),
    replaceCsiNode: (body, signal) => send({ method: 'PUT', path: csiNode, body }, signal),
    async deleteCsiNode(signal) {
      await send({ method: 'DELETE', path: csiNode }, signal)
    },
  }
}
