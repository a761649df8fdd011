import { randomBytes } from 'node:crypto'
import { TaskGroup } from '../base/async/task-group.ts'
import { errorMessage } from '../base/telemetry/error-text.ts'
import type { Logger } from '../base/telemetry/logger.ts'
import type { Node } from '../model/generated/core-v1.ts'
import type { KubeClient } from '../protocols/kube-api/kube-client.ts'
import { readList } from '../protocols/kube-api/list-watch/read-list.ts'
import { issueLinkToken } from '../page/server/link-tokens.ts'
import type { NodeAgent } from '../page/server/page-agent.ts'
import type { ApiConnection } from '../page/server/page-site.ts'
import { createDirectAgent, createProxiedAgent } from '../page/server/proxied-agent.ts'
import { runPageServer } from '../page/server/run-page-server.ts'
import { openConnection } from './node/api/open-client.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'

export interface NodePageOptions {
  readonly kubeconfig: string
  /** Undefined: the only one there is. */
  readonly node: string | undefined
  /** The port of a kubelet that is asked itself, in place of the server of the file. */
  readonly kubelet: URL | undefined
  /** 0 takes any that is free. */
  readonly port: number
}

export interface NodePageDeps extends Pick<StandaloneDeps, 'clock' | 'say'> {
  readonly random: () => number
  readonly assets: string
  readonly version: string
  readonly log: Logger
}

const KEY_BYTES = 32
const MOST_NAMED = 10

/** Serves the page for a node of a cluster until the signal aborts, with the rights of a kubeconfig file and with any kubelet. */
export async function runNodePage(
  deps: NodePageDeps,
  { kubeconfig, node, kubelet, port }: NodePageOptions,
  signal: AbortSignal,
): Promise<void> {
  await using tasks = new TaskGroup(signal)
  const opened = await openConnection(deps.random, kubeconfig, tasks, kubelet).catch((error: unknown) => {
    throw new NodeError(errorMessage(error), exitCodes.wrongArguments, { cause: error })
  })
  const { nodeName, connection, agent, userName } = await (kubelet === undefined
    ? openNode(opened, node, signal)
    : openKubelet(deps, { opened, kubelet }, signal))
  const key = randomBytes(KEY_BYTES).toString('base64url')
  await runPageServer(
    {
      ...deps,
      port,
      key,
      nodeName,
      isOneOfMany: kubelet === undefined,
      isKubelet: kubelet !== undefined,
      userName,
      agent,
      connect: () => Promise.resolve(connection),
      onListening(bound) {
        deps.say(`http://127.0.0.1:${bound}/sign-in?token=${issueLinkToken(key, 'admin', deps.clock.now())}`)
        deps.say(`The page of node "${nodeName}" is served until you press Ctrl-C; the link signs in once.`)
      },
    },
    signal,
  ).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    const message = `Cannot serve the page: port ${port} is taken, choose another with --page-port`
    throw new NodeError(message, exitCodes.unfitMachine, { cause: error })
  })
}

interface Answering {
  readonly nodeName: string
  readonly connection: ApiConnection
  readonly agent: NodeAgent
  readonly userName: string
}

/** A node of a cluster: all comes over its API. */
async function openNode(opened: ApiConnection, wanted: string | undefined, signal: AbortSignal): Promise<Answering> {
  const { client } = opened
  const nodeName = await chooseNode(client, wanted, signal)
  const agent = createProxiedAgent(client, nodeName)
  return { nodeName, connection: opened, agent, userName: await readUserName(client, signal) }
}

/** A kubelet alone: what its port has stands in for the API. */
async function openKubelet(
  { clock }: Pick<NodePageDeps, 'clock'>,
  { opened, kubelet }: { readonly opened: ApiConnection; readonly kubelet: URL },
  signal: AbortSignal,
): Promise<Answering> {
  const { KubeletApi } = await import('../page/server/kubelet/kubelet-api.ts')
  const summary = await opened.client
    .send<{ readonly node?: { readonly nodeName?: string } }>({ method: 'GET', path: '/stats/summary' }, signal)
    .catch((error: unknown) => {
      signal.throwIfAborted()
      const message = `Cannot ask the kubelet at ${kubelet.host}: ${errorMessage(error)}`
      throw new NodeError(message, exitCodes.failed, { cause: error })
    })
  const nodeName = summary.node?.nodeName ?? kubelet.hostname
  const connection = new KubeletApi({ ...opened, nodeName, clock })
  return { nodeName, connection, agent: createDirectAgent(opened.client), userName: '' }
}

/** The node that is asked for, if it is there; the only one without a word. */
async function chooseNode(client: KubeClient, wanted: string | undefined, signal: AbortSignal): Promise<string> {
  const fail = (error: unknown): never => {
    signal.throwIfAborted()
    throw new NodeError(`Cannot read the nodes: ${errorMessage(error)}`, exitCodes.failed, { cause: error })
  }
  if (wanted !== undefined) {
    await client
      .send({ method: 'GET', path: `/api/v1/nodes/${encodeURIComponent(wanted)}` }, signal)
      .catch((error: unknown) => fail(error))
    return wanted
  }
  const { items } = await readList<Node>({ client, path: '/api/v1/nodes', query: {}, version: '' }, signal).catch(fail)
  const names = items.flatMap(({ metadata }) => metadata?.name ?? [])
  const [only, ...others] = names
  if (only !== undefined && others.length === 0) return only
  const listed = names.length > MOST_NAMED ? `${names.slice(0, MOST_NAMED).join(', ')} …` : names.join(', ')
  const expected = only === undefined ? 'there is none' : `expected --node with one of ${listed}`
  throw new NodeError(`Cannot choose a node: ${expected}`, exitCodes.wrongArguments)
}

/** Who the file says that we are; an API that does not answer this is of no harm. */
async function readUserName(client: KubeClient, signal: AbortSignal): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  try {
    const { status } = await client.send<{ readonly status?: { readonly userInfo?: { readonly username?: string } } }>(
      { method: 'POST', path, body },
      signal,
    )
    return status?.userInfo?.username ?? ''
  } catch {
    signal.throwIfAborted()
    return ''
  }
}
