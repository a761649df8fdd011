import { once } from 'node:events'
import { json } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { request } from '../../../base/builtin/http.ts'
import type { ObjectMeta, Pod } from '../../../model/generated/core-v1.ts'
import type { NodePorts } from '../../arguments/up-options.ts'
import type { FileProblem } from '../file-problems.ts'
import { exitCodes, NodeError } from '../node-error.ts'
import type { NodeLayout } from '../node-layout.ts'

/** The default root directory of a kubelet. */
export const KUBELET_ROOT = '/var/lib/kubelet'

/** A pod as "status" shows it. */
export interface PodSummary {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly phase: string
  readonly ready: boolean
  /** Undefined of a pod that is being ended. */
  readonly restarts: number | undefined
  readonly address: string
  /** Why it is not well; empty when it is. */
  readonly waiting: string
  /** A Job, a ReplicaSet or another owner answers for it. */
  readonly isControlled: boolean
}

/** True when the agent's /healthz says so. */
export async function isHealthy(ports: NodePorts, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${ports.healthz}/healthz`, { signal })
    await response.body?.cancel()
    return response.ok
  } catch (error) {
    if (signal.aborted) throw error
    return false
  }
}

/** The pods that the agent knows, whole. */
export async function listAgentPods(
  agent: Pick<NodeLayout, 'agentSocket'>,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const { items } = (await askAgent(agent, '/pods', signal)) as { readonly items?: readonly Pod[] | null }
  return items ?? []
}

/** The pods that the agent knows, in short. */
export async function listPods(layout: NodeLayout, signal: AbortSignal): Promise<readonly PodSummary[]> {
  return parsePods(await askAgent(layout, '/pods', signal))
}

/** The agent answered something else than what was asked for. */
export class AgentAnswerError extends Error {
  override readonly name = 'AgentAnswerError'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** What the agent answers on its socket, which only root may use. */
export async function askAgent(
  { agentSocket }: Pick<NodeLayout, 'agentSocket'>,
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  const asked = request({ socketPath: agentSocket, path, agent: false, signal })
  asked.end()
  const [response] = (await once(asked, 'response').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new NodeError('Cannot ask the agent: this needs root (try sudo)', exitCodes.unfitMachine, { cause: error })
  })) as [Readable & { readonly statusCode?: number }]
  if (response.statusCode === 200) return await json(response)
  response.resume()
  const status = response.statusCode ?? 0
  throw new AgentAnswerError(`Cannot read ${path} on ${agentSocket}: status ${status}, expected 200`, status)
}

/** What the agent says about why a pod is as it is. */
export interface ExplainedPod {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly why: string
  readonly from?: string
  readonly steps: readonly {
    readonly name: string
    readonly startedAt: number
    readonly ms?: number | null
    readonly error?: string | null
  }[]
}

/** Pods, and the manifests that gave none; an agent of an earlier version lists only the former. */
export interface Explanations {
  readonly pods: readonly ExplainedPod[]
  readonly manifests: readonly FileProblem[]
  /** Fields of the others that are no fields of a pod. */
  readonly unused: readonly FileProblem[]
}

/** What the agent says about all pods, also about those that are being ended. */
export async function explainPods(agent: Pick<NodeLayout, 'agentSocket'>, signal: AbortSignal): Promise<Explanations> {
  const { pods, manifests = [], unused = [] } = (await askAgent(agent, '/why', signal)) as Partial<Explanations>
  return { pods: pods ?? [], manifests, unused }
}

/** The pods of this name; the suffix of the node may be left out. None: there is no such pod. */
export function selectNamedPods<T extends { readonly namespace: string; readonly name: string }>(
  pods: readonly T[],
  pod: string,
): readonly T[] {
  const isWanted = (name: string) => name === pod || name.startsWith(`${pod}-`)
  const exact = pods.filter(({ namespace, name }) => [name, `${namespace}/${name}`].includes(pod))
  return exact.length > 0
    ? exact
    : pods.filter(({ namespace, name }) => isWanted(name) || isWanted(`${namespace}/${name}`))
}

/** Says of each pod why it is as it is, and adds those that are being ended, which the list of wanted pods leaves out. */
export function addExplanations(
  pods: readonly PodSummary[],
  explained: readonly ExplainedPod[],
): readonly PodSummary[] {
  const whys = new Map(explained.map(({ uid, why }) => [uid, why]))
  const wanted = new Set(pods.map(({ uid }) => uid))
  const ending = explained.filter(({ uid }) => !wanted.has(uid))
  return [
    ...pods.map((pod) => {
      const why = whys.get(pod.uid)
      if (why === undefined) return pod
      const isPlain = why === 'Runs and is ready' || why === `Has ended: ${pod.phase}`
      return { ...pod, waiting: isPlain ? '' : why }
    }),
    ...ending.map(({ uid, namespace, name, why }) => {
      const rest = { ready: false, restarts: undefined, address: '', isControlled: false }
      return { uid, namespace, name, phase: 'Terminating', ...rest, waiting: why }
    }),
  ]
}

interface WireContainer {
  readonly restartCount?: number
  readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } }
}

interface WirePod {
  readonly metadata?: Pick<ObjectMeta, 'uid' | 'namespace' | 'name' | 'ownerReferences'>
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly message?: string
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly initContainerStatuses?: readonly WireContainer[]
    readonly containerStatuses?: readonly WireContainer[]
  }
}

/** Whether another object makes pods like it when it is gone or has failed. */
export function isControlled({ ownerReferences = [] }: Pick<ObjectMeta, 'ownerReferences'>): boolean {
  return ownerReferences.some(({ controller }) => controller === true)
}

/** Reads a PodList as far as a summary needs it. */
export function parsePods(list: unknown): readonly PodSummary[] {
  const pods = (list as { items?: readonly WirePod[] | null }).items ?? []
  return pods.map(({ metadata = {}, status = {} }) => {
    const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
    const waiting = containers.flatMap(({ state }) => (state?.waiting === undefined ? [] : [state.waiting]))
    return {
      uid: metadata.uid ?? '',
      namespace: metadata.namespace ?? 'default',
      name: metadata.name ?? '',
      phase: status.phase ?? 'Unknown',
      ready: status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false,
      restarts: containers.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0),
      address: status.podIP ?? '',
      waiting: [...waiting, ...(status.reason === undefined ? [] : [status])]
        .map(({ reason, message }) => [reason, message].filter(Boolean).join(': '))
        .join('; '),
      isControlled: isControlled(metadata),
    }
  })
}
