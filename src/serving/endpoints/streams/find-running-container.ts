import { CONTAINER_RUNNING } from '../../../protocols/cri/cri-methods.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { allContainers } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { HttpError } from '../../http/error-answer.ts'
import { findPod } from '../pod-view.ts'
import type { PodView } from '../pod-view.ts'
import type { RouteRequest } from '../../http/route.ts'

const POD_UID_LABEL = 'io.kubernetes.pod.uid'
const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name'

/** The pod that a request names; one without it is answered with 404. */
export function requirePod(views: readonly PodView[], { parameters }: RouteRequest): Pod {
  const { namespace = '', pod = '' } = parameters
  const view = findPod(views, namespace, pod)
  if (view === undefined) throw new HttpError(404, 'pod does not exist')
  return view.pod
}

/** The runtime's id of the container that a request names, which must run now. The runtime is asked: what the agent knows may be a moment old. */
export async function findRunningContainer(
  calls: Pick<CriCalls, 'listContainers'>,
  pod: Pod,
  request: RouteRequest,
): Promise<string> {
  const { container = '', uid } = request.parameters
  const missing = new HttpError(500, `container not found ("${container}")`)
  const known = allContainers(pod).some((one) => one.container.name === container)
  if (!known || (uid !== undefined && uid !== pod.metadata.uid)) throw missing
  const labelSelector = { [POD_UID_LABEL]: pod.metadata.uid, [CONTAINER_NAME_LABEL]: container }
  const state = { state: CONTAINER_RUNNING }
  const { containers } = await calls.listContainers({ filter: { labelSelector, state } }, request.signal)
  const [newest] = containers.toSorted((a, b) => Number(b.createdAt - a.createdAt))
  if (newest === undefined) throw missing
  return newest.id
}

/** The runtime's id of a pod's newest sandbox. */
export async function findNewestSandbox(
  calls: Pick<CriCalls, 'listPodSandbox'>,
  pod: Pod,
  signal: AbortSignal,
): Promise<string> {
  const labelSelector = { [POD_UID_LABEL]: pod.metadata.uid }
  const { items } = await calls.listPodSandbox({ filter: { labelSelector } }, signal)
  const [newest] = items.toSorted((a, b) => Number(b.createdAt - a.createdAt))
  if (newest === undefined) throw new HttpError(500, `Cannot find a sandbox of pod "${pod.metadata.name}": it has none`)
  return newest.id
}
