import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { KubeApiError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { NodePatch } from './status/compute-node-patch.ts'
import type { Lease } from './lease.ts'

/** The requests that a node makes for itself. They fail as those of a KubeClient do, and when no answer comes in time. */
export interface NodeApi {
  getNode(signal: AbortSignal): Promise<Node>
  createNode(node: Node, signal: AbortSignal): Promise<Node>
  patchNodeStatus(patch: NodePatch, signal: AbortSignal): Promise<Node>
  getLease(signal: AbortSignal): Promise<Lease>
  createLease(lease: Lease, signal: AbortSignal): Promise<Lease>
  replaceLease(lease: Lease, signal: AbortSignal): Promise<Lease>
}

export interface NodeApiDeps {
  readonly client: Pick<KubeClient, 'send'>
  readonly nodeName: string
  /** A connection that has died without a word must not hold up the heartbeat. */
  readonly timeoutMs: number
  readonly clock: Clock
}

const NODES = '/api/v1/nodes'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'

/** The API as a node uses it for its own objects. */
export function createNodeApi({ client, nodeName, timeoutMs, clock }: NodeApiDeps): NodeApi {
  const send = <T>(request: KubeRequest, signal: AbortSignal) =>
    withDeadline(
      { clock, ms: timeoutMs, what: `${request.method} ${request.path}` },
      (scoped) => client.send<T>(request, scoped),
      signal,
    )
  const node = `${NODES}/${nodeName}`
  const lease = `${LEASES}/${nodeName}`
  return {
    getNode: (signal) => send({ method: 'GET', path: node }, signal),
    createNode: (body, signal) => send({ method: 'POST', path: NODES, body }, signal),
    patchNodeStatus: (body, signal) =>
      send(
        {
          method: 'PATCH',
          path: `${node}/status`,
          body,
          contentType: 'application/strategic-merge-patch+json',
        },
        signal,
      ),
    getLease: (signal) => send({ method: 'GET', path: lease }, signal),
    createLease: (body, signal) => send({ method: 'POST', path: LEASES, body }, signal),
    replaceLease: (body, signal) => send({ method: 'PUT', path: lease, body }, signal),
  }
}

/** True when the API server rejected the request for this reason. */
export function isRejection(error: unknown, reason: 'NotFound' | 'AlreadyExists' | 'Forbidden' | 'Conflict'): boolean {
  return error instanceof KubeApiError && error.reason === reason
}

/** True when it is the connection that may be at fault: the server did not say a word. */
export function isSilence(error: unknown): boolean {
  return !(error instanceof KubeApiError)
}
