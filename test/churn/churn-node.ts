import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from '../../src/protocols/kube-api/kube-client.ts'
import { ApiObjects } from '../../src/controllers/engine/api-objects.ts'
import type { Live } from '../../src/controllers/engine/live-object.ts'
import { systemClock } from '../../src/base/async/clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import type { Pod } from '../../src/model/generated/core-v1.ts'

export const NODE_NAME = 'node-1'

const NODE = '/api/v1/nodes'
const PASS_MS = 50
const AT_ONCE = 20

/** A kubelet that only writes: pods run some time after they were bound, and go some time after they were deleted. */
export async function runChurnNode(client: KubeClient, random: () => number, signal: AbortSignal): Promise<void> {
  const pods = new ApiObjects<Pod>(
    { client, clock: systemClock, random, log: silentLogger },
    { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  )
  const due = new Map<string, number>()
  const following = pods.run(signal)
  following.catch(() => {})
  while (!signal.aborted) {
    const now = performance.now()
    const open = pods.known.all().filter((pod) => needsAct(pod))
    const keys = new Set(open.map(keyOf))
    for (const key of due.keys()) if (!keys.has(key)) due.delete(key)
    for (const key of keys) if (!due.has(key)) due.set(key, now + random() * 400)
    const ready = open.filter((pod) => (due.get(keyOf(pod)) ?? now) <= now).slice(0, AT_ONCE)
    // The API may be away: the next pass tries again.
    await Promise.all(ready.map((pod) => act(client, pods, pod, signal).catch(() => {})))
    await sleep(ready.length === AT_ONCE ? 0 : PASS_MS)
  }
}

/** With room for all that may come. */
export async function registerNode(client: KubeClient, signal: AbortSignal): Promise<void> {
  await client.send({ method: 'POST', path: NODE, body: { metadata: { name: NODE_NAME } } }, signal)
  const room = { cpu: '64', memory: '256Gi', pods: '5000' }
  const conditions = [{ type: 'Ready', status: 'True' }]
  const status = { capacity: room, allocatable: room, conditions }
  const contentType = 'application/merge-patch+json'
  await client.send({ method: 'PATCH', path: `${NODE}/${NODE_NAME}/status`, contentType, body: { status } }, signal)
}

function needsAct({ metadata, spec, status }: Live<Pod>): boolean {
  if (metadata.deletionTimestamp !== undefined) return true
  return spec.nodeName === NODE_NAME && status?.phase !== 'Running'
}

/** A pod in one part of its life. */
function keyOf({ metadata }: Live<Pod>): string {
  return `${metadata.uid} ${metadata.deletionTimestamp === undefined ? 'starts' : 'ends'}`
}

async function act(client: KubeClient, pods: ApiObjects<Pod>, pod: Live<Pod>, signal: AbortSignal): Promise<void> {
  if (pod.metadata.deletionTimestamp !== undefined) return await pods.remove(pod, { gracePeriodSeconds: 0 }, signal)
  const { namespace, name, uid } = pod.metadata
  const at = new Date().toISOString()
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: at }]
  await client.send(
    {
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid }, status: { phase: 'Running', startTime: at, conditions } },
    },
    signal,
  )
}
