import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Node, Pod } from '../../../src/model/generated/core-v1.ts'
import type { ReplicaSet } from '../../../src/model/generated/api-groups.ts'
import { startSecuredApi } from './start-secured-api.ts'

const PODS = '/api/v1/namespaces/default/pods'
const message = 'Pod was terminated in response to imminent node shutdown.'
const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message }
const ended = { phase: 'Failed', reason: 'Terminated', message, conditions: [disruption] }
const endedWell = { ...ended, phase: 'Succeeded' }

const labels = { app: 'owned' }
const replicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'r' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}

test('pods that the shutdown of the node ended run again when it is ready; those that ended otherwise do not', async (t) => {
  const api = await startSecuredApi(t)
  const send = async (method: string, path: string, body: object) => {
    const { status, body: answer } = await api.call(api.admin, method, path, body)
    assert.ok(status < 300, JSON.stringify(answer))
    return answer
  }
  const nodeIs = (status: string): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-1' },
    status: { conditions: [{ type: 'Ready', status }] },
  })
  const create = async (name: string, spec: object, status: object, metadata: object = {}) => {
    const containers = [{ name: 'c', image: 'i' }]
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { containers, ...spec } }
    const made = (await send('POST', PODS, pod)) as Pod
    await send('PUT', `${PODS}/${name}/status`, { ...made, status })
    return made.metadata?.uid
  }
  const get = async (name: string) => (await api.call(api.admin, 'GET', `${PODS}/${name}`)).body as Pod

  await send('POST', '/api/v1/nodes', nodeIs('False'))
  const made = (await send('POST', '/apis/apps/v1/namespaces/default/replicasets', replicaSet)) as ReplicaSet
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: made.metadata?.uid, controller: true }
  const stateful = { ...replicaSet, kind: 'StatefulSet', metadata: { name: 's' } }
  const madeSet = (await send('POST', '/apis/apps/v1/namespaces/default/statefulsets', stateful)) as ReplicaSet
  const set = { ...owner, kind: 'StatefulSet', name: 's', uid: madeSet.metadata?.uid }
  const before = {
    web: await create('web', {}, ended, { labels: { app: 'web' } }),
    served: await create('served', {}, endedWell),
    done: await create('done', { restartPolicy: 'OnFailure' }, endedWell),
    rejected: await create('rejected', {}, { phase: 'Failed', reason: 'NodeShutdown' }),
    once: await create('once', { restartPolicy: 'Never' }, ended),
    owned: await create('owned', {}, ended, { ownerReferences: [owner] }),
    counted: await create('counted', {}, ended, { ownerReferences: [set] }),
    broken: await create('broken', {}, { phase: 'Failed', reason: 'Evicted' }),
  }
  assert.equal((await get('web')).metadata?.uid, before.web)
  await send('PUT', '/api/v1/nodes/node-1/status', nodeIs('True'))
  for (const name of ['web', 'served', 'rejected'] as const) {
    while ((await get(name)).metadata?.uid === before[name]) await sleep(5, undefined, { signal: t.signal })
  }
  const web = await get('web')
  assert.deepEqual(
    [web.status?.phase, web.metadata?.labels, web.spec?.nodeName, web.spec?.containers.length],
    ['Pending', { app: 'web' }, 'node-1', 1],
  )
  for (const name of ['once', 'done', 'counted', 'broken'] as const)
    assert.equal((await get(name)).metadata?.uid, before[name])
  // The set makes others in its place.
  while ((await get('owned')).metadata?.uid !== undefined) await sleep(5, undefined, { signal: t.signal })
})
