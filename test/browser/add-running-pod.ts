import assert from 'node:assert/strict'
import type { SecuredApi } from '../component/api-server/start-secured-api.ts'

/** A pod that runs, as its agent reports it. */
export async function addRunningPod(api: SecuredApi, name: string, status: object = {}): Promise<string> {
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/web:1' }] }
  const made = await api.call(api.admin, 'POST', '/api/v1/namespaces/default/pods', { metadata: { name }, spec })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const running = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [
      { name: 'main', ready: true, restartCount: 0, image: 'a', imageID: 'a', state: { running: {} } },
    ],
    ...status,
  }
  const patch = { ...api.node, headers: { 'content-type': 'application/merge-patch+json' } }
  const path = `/api/v1/namespaces/default/pods/${name}/status`
  assert.equal((await api.call(patch, 'PATCH', path, { status: running })).status, 200)
  return (made.body['metadata'] as { uid: string }).uid
}
