import type { KubeClient } from '../../../src/protocols/kube-api/kube-client.ts'

/** What a node is made with. */
export interface NodeChoices {
  readonly labels?: object
  /** There before it is without the one that new nodes get: at no time can a controller see it without taints. */
  readonly taints?: readonly object[]
}

/** A node that is Ready and has no taints but those. */
export async function addNode(
  client: KubeClient,
  name: string,
  { labels = {}, taints }: NodeChoices,
  signal: AbortSignal,
): Promise<void> {
  const path = '/api/v1/nodes'
  await client.send(
    { method: 'POST', path, body: { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } } },
    signal,
  )
  const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const
  const quantities = { cpu: '64', memory: '256Gi', pods: '1000' }
  const status = {
    capacity: quantities,
    allocatable: quantities,
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }],
  }
  await client.send({ ...patch, path: `${path}/${name}/status`, body: { status } }, signal)
  await client.send({ ...patch, path: `${path}/${name}`, body: { spec: { taints: taints ?? null } } }, signal)
}
