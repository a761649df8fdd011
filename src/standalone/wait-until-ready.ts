import { TaskGroup } from '../base/async/task-group.ts'
import { Wakeup } from '../base/async/wakeup.ts'
import { errorMessage } from '../base/telemetry/error-text.ts'
import { silentLogger } from '../base/telemetry/silent-logger.ts'
import type { Ingress, IngressClass, StorageClass } from '../model/generated/api-groups.ts'
import { ingressClassOf } from '../model/networking/ingress-classes.ts'
import { isNotFound } from '../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../protocols/kube-api/kube-client.ts'
import { runListWatch } from '../protocols/kube-api/list-watch/run-list-watch.ts'
import { readTextIfPresent } from '../system/files/files-and-folders.ts'
import { watchDirectory } from '../system/files/watch-directory.ts'
import { formatObjectName } from './apply/applied-object.ts'
import { ObjectPaths } from './apply/object-paths.ts'
import { readAppliedRecord } from './apply/applied-record.ts'
import { computeUnreadyIngress, computeUnreadyObject, computeUnreadyPods } from './compute-unready.ts'
import type { WorkloadObject } from './compute-unready.ts'
import { addExplanations, explainPods, listPods } from './node/agent/agent-client.ts'
import { formatFileProblem, parseFileProblems } from './node/file-problems.ts'
import { readPortProblems } from './node/network/ingress-problems.ts'
import type { ClientDeps } from './node/node-deps.ts'
import type { NodeLayout } from './node/node-layout.ts'
import { readNodeRecord } from './node/node-record.ts'
import { listWaitingPods } from './node/waiting-pods.ts'

export interface WaitDeps extends ClientDeps {
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
}

interface WaitedNode {
  readonly layout: NodeLayout
  readonly isApplying: boolean
}

/** Everything that has to become ready; pods of manifests are among the pods of the API. */
const WATCHED = [
  '/api/v1/pods',
  '/api/v1/persistentvolumeclaims',
  '/api/v1/replicationcontrollers',
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map((name) => `/apis/apps/v1/${name}`),
  '/apis/batch/v1/jobs',
]
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses'
const INGRESS_CLASSES = '/apis/networking.k8s.io/v1/ingressclasses'
// Many changes come at once.
const COALESCE_MS = 50
// For what no watch shows, such as a refused manifest that was removed.
const RECHECK_MS = 5000
// A file may be refused for a moment, as one of a custom resource whose definition comes with it.
const REFUSED_MS = 10_000

/** What is left until everything is ready: files that only their author can put right, and what may still come by itself. */
interface Missing {
  readonly refused: readonly string[]
  readonly unready: readonly string[]
}

/** Waits until all files are applied and all pods are ready; gives what is not when the time is over, or only refused files are left. */
export async function waitUntilReady(
  deps: WaitDeps,
  node: WaitedNode,
  timeMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await using group = new TaskGroup(signal)
  const client = await deps.openClient(node.layout.adminKubeconfig, group)
  const end = deps.clock.monotonic() + timeMs
  const wakeup = new Wakeup()
  const onReplace = () => wakeup.wake()
  const watch = { ...deps, client, log: silentLogger, onReplace, onEvent: onReplace, onProblem: onReplace }
  for (const path of WATCHED) group.run(path, (s) => runListWatch({ ...watch, path }, s))
  // What is applied, and what of it is refused, are files.
  using _ = watchDirectory(node.layout.state, { onChange: onReplace, onFailure: onReplace })
  let refusedAt: number | undefined
  for (;;) {
    const { refused, unready } = await listMissing(deps, node, client, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
      return { refused: [], unready: [`the node does not answer: ${errorMessage(error)}`] }
    })
    const now = deps.clock.monotonic()
    refusedAt = unready.length === 0 && refused.length > 0 ? (refusedAt ?? now) : undefined
    const left = Math.min(end, (refusedAt ?? end) + REFUSED_MS) - now
    const missing = [...refused, ...unready]
    if (missing.length === 0 || left <= 0) return missing
    await wakeup.wait({ clock: deps.clock, ms: Math.min(RECHECK_MS, left) }, signal)
    await deps.clock.sleep(COALESCE_MS, signal)
  }
}

async function listMissing(
  deps: ClientDeps,
  { layout, isApplying }: WaitedNode,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Missing> {
  const applied = await readTextIfPresent(layout.appliedProblems)
  if (isApplying && applied === undefined)
    return { refused: [], unready: ['the folder of --apply has not been applied yet'] }
  const { pods, manifests } = await explainPods(layout, signal)
  const refused = [...manifests, ...parseFileProblems(applied)].map(formatFileProblem)
  const objects = isApplying ? await listUnreadyObjects(layout, client, signal) : []
  const waiting = await listWaitingPods(deps, layout, signal)
  const known = addExplanations(await listPods(layout, signal), pods)
  return { refused, unready: [...objects, ...computeUnreadyPods([...known, ...waiting])] }
}

async function listUnreadyObjects(
  layout: NodeLayout,
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const paths = new ObjectPaths(client)
  const unready: string[] = []
  for (const name of (await readAppliedRecord(layout.applied)).values()) {
    const { collection } = await paths.find(name, signal)
    const path = `${collection}/${encodeURIComponent(name.name)}`
    const object = await getIfPresent<WorkloadObject>(client, path, signal)
    const className = name.kind === 'PersistentVolumeClaim' ? object?.spec?.storageClassName : undefined
    const storageClass = className
      ? await getIfPresent<StorageClass>(client, `${CLASSES}/${encodeURIComponent(className)}`, signal)
      : undefined
    const why =
      object === undefined
        ? 'is not there'
        : name.kind === 'Ingress'
          ? await findUnservedReason(layout, client, object as Ingress, signal)
          : computeUnreadyObject(name.kind, object, storageClass)
    if (why !== undefined) unready.push(`${formatObjectName(name)}: ${why}`)
  }
  return unready
}

/** Why an Ingress gets no requests; undefined when it does. */
async function findUnservedReason(
  layout: NodeLayout,
  client: KubeClient,
  ingress: Ingress,
  signal: AbortSignal,
): Promise<string | undefined> {
  const className = ingressClassOf(ingress)
  if (className === undefined) return undefined
  const path = `${INGRESS_CLASSES}/${encodeURIComponent(className)}`
  const ingressClass = await getIfPresent<IngressClass>(client, path, signal)
  const asked = (await readNodeRecord(layout.record))?.ingressPorts
  // One that is kept from a start with ports, or for another controller.
  if (asked === undefined) return undefined
  return computeUnreadyIngress(ingress, ingressClass, { asked, problems: await readPortProblems(layout) })
}

async function getIfPresent<T>(client: KubeClient, path: string, signal: AbortSignal): Promise<T | undefined> {
  return await client.send<T>({ method: 'GET', path }, signal).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
}
