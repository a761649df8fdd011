import type { KubeClient } from '../../../src/protocols/kube-api/kube-client.ts'

/** A node that is Ready and has no taints. */
export async function addNode(client: KubeClient, name: string, labels: object, signal: AbortSignal): Promise<void> {
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
  await client.send({ ...patch, path: `${path}/${name}`, body: { spec: { taints: null } } }, signal)
}
