import { errorMessage } from '../../base/telemetry/error-text.ts'

/** The calls of the runtime that stopping pods needs. */
export interface PodStopper {
  listPodSandbox(request: object, signal: AbortSignal): Promise<{ readonly items: readonly RuntimeSandbox[] }>
  listContainers(
    request: { filter: { podSandboxId: string } | { labelSelector: Record<string, string> } },
    signal: AbortSignal,
  ): Promise<{ readonly containers: readonly RuntimeContainer[] }>
  stopContainer(request: { containerId: string; timeout: bigint }, signal: AbortSignal): Promise<unknown>
  stopPodSandbox(request: { podSandboxId: string }, signal: AbortSignal): Promise<unknown>
  removePodSandbox(request: { podSandboxId: string }, signal: AbortSignal): Promise<unknown>
  /** Ends what containerd has left of a start that broke off: such a task keeps its sandbox from being removed. */
  containerdDeleteTask(request: { containerId: string }, signal: AbortSignal): Promise<unknown>
}

interface Metadata {
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

interface RuntimeSandbox {
  readonly id: string
  readonly metadata?: Metadata | undefined
  readonly state: number
}

interface RuntimeContainer {
  readonly id: string
  readonly podSandboxId: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface StoppedPods {
  /** Those that ran; what was left of others is removed in silence. */
  readonly stopped: number
  /** A message for each pod that would not go. */
  readonly failures: readonly string[]
}

const GRACE_ANNOTATION = 'io.kubernetes.pod.terminationGracePeriod'
const NAME_LABEL = 'io.kubernetes.pod.name'
const NAMESPACE_LABEL = 'io.kubernetes.pod.namespace'
const UID_LABEL = 'io.kubernetes.pod.uid'
// As CRI has them.
const SANDBOX_READY = 0
const SANDBOX_NOT_READY = 1
const DEFAULT_GRACE_SECONDS = 30n
// More at once only make the runtime slower.
const MAX_PARALLEL_PODS = 16

/** Stops and removes pods, each with its own grace, many at once; only those with these UIDs when there are some given. */
export async function stopPods(
  runtime: PodStopper,
  uids: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<StoppedPods> {
  const { items } = await runtime.listPodSandbox({}, signal)
  const own = items.filter(({ metadata }) => uids?.has(metadata?.uid ?? '') ?? true)
  const pods = [...own, ...(await findLostSandboxes(runtime, uids ?? [], new Set(items.map(({ id }) => id)), signal))]
  const running = new Set(pods.filter(({ state }) => state === SANDBOX_READY).map(({ id }) => id))
  const failures: string[] = []
  await forEachPod(pods, async ({ id, metadata }) => {
    await stopPod(runtime, id, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
      running.delete(id)
      failures.push(`Cannot stop pod "${metadata?.namespace}/${metadata?.name}": ${errorMessage(error)}`)
    })
  })
  return { stopped: running.size, failures }
}

/** Sandboxes that are gone while containers of theirs are left: Docker keeps those when a sandbox is removed by hand. */
async function findLostSandboxes(
  runtime: PodStopper,
  uids: Iterable<string>,
  present: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly RuntimeSandbox[]> {
  const lost = new Map<string, RuntimeSandbox>()
  await forEachPod(uids, async (uid) => {
    // A selector with an empty value would find the containers of others.
    if (uid === '') return
    const { containers } = await runtime.listContainers({ filter: { labelSelector: { [UID_LABEL]: uid } } }, signal)
    for (const { podSandboxId: id, labels } of containers) {
      if (id === '' || present.has(id)) continue
      const { [NAME_LABEL]: name = '', [NAMESPACE_LABEL]: namespace = '' } = labels
      lost.set(id, { id, metadata: { name, namespace, uid }, state: SANDBOX_NOT_READY })
    }
  })
  return [...lost.values()]
}

async function forEachPod<T>(pods: Iterable<T>, work: (pod: T) => Promise<void>): Promise<void> {
  const waiting = [...pods]
  const worker = async () => {
    for (let pod = waiting.pop(); pod !== undefined; pod = waiting.pop()) await work(pod)
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL_PODS }, worker))
}

async function stopPod(runtime: PodStopper, podSandboxId: string, signal: AbortSignal): Promise<void> {
  // Pod by pod: the list of all containers may be too large to be sent.
  const { containers } = await runtime.listContainers({ filter: { podSandboxId } }, signal)
  await Promise.all(
    containers.map(({ id, annotations }) => {
      return runtime.stopContainer({ containerId: id, timeout: parseGrace(annotations[GRACE_ANNOTATION]) }, signal)
    }),
  )
  await runtime.stopPodSandbox({ podSandboxId }, signal)
  const remove = () => runtime.removePodSandbox({ podSandboxId }, signal)
  await remove().catch(async (error: unknown) => {
    if (!(Error.isError(error) && 'code' in error && error.code === 'FailedPrecondition')) throw error
    for (const { id } of containers) await runtime.containerdDeleteTask({ containerId: id }, signal)
    await remove()
  })
}

function parseGrace(text: string | undefined): bigint {
  return text !== undefined && /^\d{1,6}$/.test(text) ? BigInt(text) : DEFAULT_GRACE_SECONDS
}
