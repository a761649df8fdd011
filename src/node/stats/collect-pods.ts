import { createTurns } from '../../base/async/next-turn.ts'
import type { TreeUsage } from '../../system/files/file-usage.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../model/pod/observed-pod.ts'
import type { CgroupFinder } from './sampling/cgroup-finder.ts'
import type { CgroupSampler } from './sampling/cgroup-sampler.ts'
import type { DiskUsage } from './collect-disk.ts'
import { listProcesses } from './sampling/list-processes.ts'
import { parseCgroupOfProcess } from '../../system/cgroups/parse-cgroup-of-process.ts'
import { parseNetDev } from './sampling/parse-net-dev.ts'
import type { InterfaceCounters } from './sampling/parse-net-dev.ts'
import { readProcesses } from './sampling/read-processes.ts'
import type { DescriptorBudget } from './sampling/read-processes.ts'
import type { RuntimePids } from './sampling/runtime-pids.ts'
import type { StatsDeps } from './stats-deps.ts'
import type { CgroupUsage, ContainerUsage, PodUsage, StatsPart } from './stats-snapshot.ts'

/** What is needed to measure pods. */
export interface PodObservation {
  readonly deps: Pick<StatsDeps, 'cgroups' | 'files' | 'pressure' | 'log'>
  readonly finder: CgroupFinder
  readonly sampler: CgroupSampler
  readonly budget: DescriptorBudget
  readonly pids: RuntimePids
  readonly parts: ReadonlySet<StatsPart>
  readonly disk: DiskUsage | undefined
}

const TURN_MS = 2

/** Reads the cgroups and interfaces of all pods that run, one pod at a time, so that other work runs in between. */
export async function collectPods(
  observation: PodObservation,
  pods: readonly ObservedPod[],
  signal: AbortSignal,
): Promise<readonly PodUsage[]> {
  const stats: PodUsage[] = []
  const nextTurn = createTurns(TURN_MS)
  for (const pod of pods) {
    const found = await collectPod(observation, pod, signal)
    if (found !== undefined) stats.push(found)
    await nextTurn()
    signal.throwIfAborted()
  }
  return stats
}

/** The containers of a pod that have stats: a pod in which nothing runs is starting or ending. */
export function listMeasured(pod: ObservedPod): readonly ObservedContainer[] {
  return pod.sandboxes.some(({ ready }) => ready) ? newestRunning(pod.containers) : []
}

async function collectPod(
  observation: PodObservation,
  pod: ObservedPod,
  signal: AbortSignal,
): Promise<PodUsage | undefined> {
  const running = listMeasured(pod)
  const sandbox = pod.sandboxes.find(({ ready }) => ready)
  if (sandbox === undefined || running.length === 0) return undefined
  const path = observation.finder.ofPod(pod.uid)
  const sandboxPath = await partCgroup(observation, { podCgroup: path, id: sandbox.id, isSandbox: true }, signal)
  const containers: ContainerUsage[] = []
  for (const container of running) {
    const part = { podCgroup: path, id: container.id, isSandbox: false }
    containers.push(await toContainer(observation, pod, container, await partCgroup(observation, part, signal)))
  }
  const disk = observation.disk?.pods.get(pod.uid)
  const paths = [sandboxPath, ...containers.map(({ cgroup }) => cgroup?.path)]
  return {
    uid: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    createdAt: sandbox.createdAt,
    // Its processes are those of its parts.
    cgroup: path === undefined ? undefined : await sample(observation, { path, pids: [], briefly: 'memory' }),
    // Only scrapers of details want to know; its pod counts it too.
    sandbox: {
      id: sandbox.id,
      cgroup:
        sandboxPath === undefined || !observation.parts.has('details')
          ? undefined
          : await sample(observation, {
              path: sandboxPath,
              pids: listProcesses(observation.deps.cgroups, sandboxPath),
              briefly: 'cpu',
            }),
    },
    containers,
    interfaces: observation.parts.has('network')
      ? await readInterfaces(observation, sandbox, paths, signal)
      : undefined,
    processes: sum(containers.map(({ processes }) => processes)),
    ownFiles: disk?.own,
    volumes: disk?.volumes ?? [],
  }
}

async function toContainer(
  observation: PodObservation,
  pod: ObservedPod,
  { id, name, image, createdAt, startedAt }: ObservedContainer,
  path: string | undefined,
): Promise<ContainerUsage> {
  const wantsProcesses = observation.parts.has('details') || observation.disk !== undefined
  const pids = wantsProcesses && path !== undefined ? listProcesses(observation.deps.cgroups, path) : undefined
  return {
    id,
    name,
    image,
    createdAt,
    startedAt,
    cgroup: path === undefined ? undefined : await sample(observation, { path, pids: pids ?? [], briefly: 'cpu' }),
    processes: pids?.length,
    rootfs: observation.disk?.rootfs.get(id),
    logs: observation.disk?.pods.get(pod.uid)?.logs.get(name) ?? (observation.disk === undefined ? undefined : NOTHING),
    messages: observation.disk?.pods.get(pod.uid)?.messages.get(name),
  }
}

const NOTHING: TreeUsage = { bytes: 0, inodes: 0 }

async function sample(
  { deps, sampler, parts, budget }: PodObservation,
  {
    path,
    pids,
    briefly,
  }: {
    readonly path: string
    readonly pids: readonly number[]
    /** What is enough for an overview; cpu always, since its use is the difference between two snapshots. */
    readonly briefly: 'cpu' | 'memory'
  },
): Promise<CgroupUsage | undefined> {
  const details = parts.has('details')
  const isWhole = details || parts.has('usage')
  const cgroup = sampler.sample(path, { extent: isWhole ? 'all' : briefly, details, pressure: deps.pressure })
  if (cgroup === undefined || !details) return cgroup
  // The oldest, as a rule: pids grow.
  const first = pids.length === 0 ? undefined : Math.min(...pids)
  return { ...cgroup, processes: await readProcesses(deps.files, { pids, first, budget }) }
}

/** By name inside that of the pod; where pods have none, by a process of the part. */
async function partCgroup(
  observation: PodObservation,
  part: { readonly podCgroup: string | undefined; readonly id: string; readonly isSandbox: boolean },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (part.podCgroup !== undefined) return observation.finder.ofPart(part.podCgroup, part.id)
  const pid = await pidOf(observation, part, signal)
  return pid === undefined ? undefined : parseCgroupOfProcess(observation.deps.files.kernelFile(`/proc/${pid}/cgroup`))
}

async function pidOf(
  { pids, deps }: PodObservation,
  { id, isSandbox }: { readonly id: string; readonly isSandbox: boolean },
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await (isSandbox ? pids.ofSandbox(id, signal) : pids.ofContainer(id, signal))
  } catch (error) {
    signal.throwIfAborted()
    deps.log.debug('cannot ask the runtime for a process', { id, error })
    return undefined
  }
}

/** All parts of a pod share one network: any process of it shows it. */
async function readInterfaces(
  observation: PodObservation,
  { id }: ObservedSandbox,
  cgroups: readonly (string | undefined)[],
  signal: AbortSignal,
): Promise<readonly InterfaceCounters[] | undefined> {
  const found = cgroups
    .values()
    .flatMap((path) => (path === undefined ? [] : listProcesses(observation.deps.cgroups, path)))
  const pid = found.next().value ?? (await pidOf(observation, { id, isSandbox: true }, signal))
  const text = pid === undefined ? undefined : observation.deps.files.kernelFile(`/proc/${pid}/net/dev`)
  return text === undefined ? undefined : parseNetDev(text)
}

/** Of several that run under one name the newest counts; they come newest first. */
function newestRunning(containers: readonly ObservedContainer[]): readonly ObservedContainer[] {
  const byName = new Map<string, ObservedContainer>()
  for (const container of containers) if (container.state === 'running') byName.getOrInsert(container.name, container)
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0)
}
