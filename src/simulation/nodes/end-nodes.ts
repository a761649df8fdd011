import type { Clock } from '../../base/async/clock.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import type { SimulationOptions } from '../options/simulation-options.ts'
import { forEachOf } from './for-each-of.ts'

interface EndDeps {
  readonly client: KubeClient
  readonly clock: Clock
}

interface BoundPods {
  readonly items: readonly {
    readonly metadata: { readonly namespace: string; readonly name: string }
    readonly spec?: { readonly nodeName?: string }
  }[]
}

const AT_ONCE = 50
const NOW = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 }

/** Leaves the cluster as it was asked for. The nodes no longer run. */
export async function endNodes(
  deps: EndDeps,
  names: readonly string[],
  atEnd: SimulationOptions['atEnd'],
  signal: AbortSignal,
): Promise<void> {
  if (atEnd === 'keep') return
  const send = (request: KubeRequest) => sendUnlessGone(deps.client, request, signal)
  if (atEnd === 'mark') {
    await forEachOf(names, AT_ONCE, async (name) => await send(toMark(name, deps.clock.now())))
    return
  }
  const ours = new Set(names)
  const { items } = await deps.client.send<BoundPods>({ method: 'GET', path: '/api/v1/pods' }, signal)
  const bound = items.filter(({ spec }) => ours.has(spec?.nodeName ?? ''))
  await forEachOf(bound, AT_ONCE, async ({ metadata: { namespace, name } }) => {
    await send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/pods/${name}`, body: NOW })
  })
  await forEachOf(names, AT_ONCE, async (name) => {
    await send({ method: 'DELETE', path: `/api/v1/nodes/${name}` })
    await send({
      method: 'DELETE',
      path: `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`,
    })
    await send({ method: 'DELETE', path: `/apis/storage.k8s.io/v1/csinodes/${name}` })
  })
}

/** Schedulers and controllers see at once that the node is gone, not only when its lease has run out. */
function toMark(name: string, now: number): KubeRequest {
  const time = toApiTime(now)
  const condition = {
    type: 'Ready',
    status: 'False',
    reason: 'SimulationEnded',
    message: 'The simulation of this node has ended',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  }
  return {
    method: 'PATCH',
    path: `/api/v1/nodes/${name}/status`,
    body: { status: { conditions: [condition] } },
    contentType: 'application/strategic-merge-patch+json',
  }
}

async function sendUnlessGone(client: KubeClient, request: KubeRequest, signal: AbortSignal): Promise<void> {
  try {
    await client.send(request, signal)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
