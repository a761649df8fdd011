import { TaskGroup } from '../base/async/task-group.ts'
import { errorMessage } from '../base/telemetry/error-text.ts'
import { KubeApiError } from '../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../protocols/kube-api/kube-client.ts'
import { readTextIfPresent } from '../system/files/state/state-folder.ts'
import { formatObjectName } from './apply/applied-object.ts'
import { ObjectPaths } from './apply/object-paths.ts'
import { parseRecord } from './apply/run-applied-folder.ts'
import { computeUnreadyObject, computeUnreadyPods } from './compute-unready.ts'
import type { WorkloadObject } from './compute-unready.ts'
import { addExplanations, explainPods, listPods } from './node/agent/agent-client.ts'
import { formatFileProblem, parseFileProblems } from './node/file-problems.ts'
import type { ClientDeps } from './node/node-deps.ts'
import type { NodeLayout } from './node/node-layout.ts'
import { listWaitingPods } from './node/waiting-pods.ts'

interface WaitedNode {
  readonly layout: NodeLayout
  readonly isApplying: boolean
}

const CHECK_MS = 300

/** Waits until all files are applied and all pods are ready; gives what is not when the time is over. */
export async function waitUntilReady(
  deps: ClientDeps,
  node: WaitedNode,
  timeMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await using group = new TaskGroup(signal)
  const client = await deps.openClient(node.layout.adminKubeconfig, group)
  const end = deps.clock.monotonic() + timeMs
  for (;;) {
    const unready = await listUnready(deps, node, client, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
      return [`the node does not answer: ${errorMessage(error)}`]
    })
    if (unready.length === 0 || deps.clock.monotonic() >= end) return unready
    await deps.clock.sleep(CHECK_MS, signal)
  }
}

async function listUnready(
  deps: ClientDeps,
  { layout, isApplying }: WaitedNode,
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const applied = await readTextIfPresent(layout.appliedProblems)
  if (isApplying && applied === undefined) return ['the folder of --apply has not been applied yet']
  const { pods, manifests } = await explainPods(layout, signal)
  const files = [...manifests, ...parseFileProblems(applied)].map(formatFileProblem)
  const objects = isApplying ? await listUnreadyObjects(layout, client, signal) : []
  const waiting = await listWaitingPods(deps, layout, signal)
  const known = addExplanations(await listPods(layout, signal), pods)
  return [...files, ...objects, ...computeUnreadyPods([...known, ...waiting])]
}

async function listUnreadyObjects(
  { applied }: NodeLayout,
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const paths = new ObjectPaths(client)
  const unready: string[] = []
  for (const name of parseRecord(await readTextIfPresent(applied)).values()) {
    const { collection } = await paths.find(name, signal)
    const path = `${collection}/${encodeURIComponent(name.name)}`
    const object = await client.send<WorkloadObject>({ method: 'GET', path }, signal).catch((error: unknown) => {
      if (error instanceof KubeApiError && error.code === 404) return undefined
      throw error
    })
    const why = object === undefined ? 'is not there' : computeUnreadyObject(name.kind, object)
    if (why !== undefined) unready.push(`${formatObjectName(name)}: ${why}`)
  }
  return unready
}
