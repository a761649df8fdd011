import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { listByPod } from '../../../protocols/cri/list-by-pod.ts'
import type { DiskUsage } from '../collect-disk.ts'
import { listMeasured } from '../collect-pods.ts'
import type { CgroupUsage, ContainerUsage, PodUsage, StatsPart } from '../stats-snapshot.ts'
import { sumSwap, toInterfaces, toNumber, toRuntimeUsage } from './to-runtime-usage.ts'
import type { RuntimePodStats } from './to-runtime-usage.ts'

/** What is needed to ask the runtime what pods use. */
export interface RuntimeObservation {
  readonly calls: Pick<CriCalls, 'listPodSandboxStats'>
  readonly pressure: boolean
  /** The cpu that something uses, by its id and the sum until now. */
  readonly rate: (id: string, usageNanos: number) => number | undefined
  readonly parts: ReadonlySet<StatsPart>
  readonly disk: DiskUsage | undefined
}

/** What pods use as the runtime reports it; pods of which it reports nothing are left out. Parity: the gate PodAndContainerStatsFromCRI. */
export async function collectRuntimePods(
  observation: RuntimeObservation,
  pods: readonly ObservedPod[],
  signal: AbortSignal,
): Promise<readonly PodUsage[]> {
  const { calls } = observation
  const uids = pods.map(({ uid }) => uid)
  const stats = await listByPod(uids, async (filter) => (await calls.listPodSandboxStats({ filter }, signal)).stats)
  const bySandbox = new Map(stats.map((each) => [each.attributes?.id ?? '', each]))
  return pods.flatMap((pod) => {
    const sandbox = pod.sandboxes.find(({ ready }) => ready)
    if (sandbox === undefined || listMeasured(pod).length === 0) return []
    const reported = bySandbox.get(sandbox.id)
    return reported === undefined ? [] : [toPod(observation, { pod, sandbox, reported })]
  })
}

function toPod(
  observation: RuntimeObservation,
  {
    pod,
    sandbox,
    reported,
  }: {
    readonly pod: ObservedPod
    readonly sandbox: ObservedPod['sandboxes'][number]
    readonly reported: RuntimePodStats
  },
): PodUsage {
  const { linux } = reported
  const disk = observation.disk?.pods.get(pod.uid)
  const byId = new Map(linux?.containers.map((each) => [each.attributes?.id ?? '', each]))
  const containers = listMeasured(pod).map(({ id, name, image, createdAt, startedAt }): ContainerUsage => ({
    id,
    name,
    image,
    createdAt,
    startedAt,
    cgroup: toUsage(observation, id, byId.get(id)),
    processes: undefined,
    rootfs: observation.disk?.rootfs.get(id),
    logs: observation.disk === undefined ? undefined : (disk?.logs.get(name) ?? { bytes: 0, inodes: 0 }),
    messages: disk?.messages.get(name),
  }))
  const own = toUsage(observation, sandbox.id, linux)
  const swap = sumSwap(containers.map(({ cgroup }) => cgroup))
  return {
    uid: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    createdAt: sandbox.createdAt,
    cgroup: own && { ...own, sample: { ...own.sample, swap } },
    sandbox: { id: sandbox.id, cgroup: undefined },
    containers,
    interfaces: observation.parts.has('network') ? toInterfaces(linux?.network) : undefined,
    processes: toNumber(linux?.process?.processCount),
    ownFiles: disk?.own,
    volumes: disk?.volumes ?? [],
  }
}

function toUsage(
  { pressure, rate }: RuntimeObservation,
  id: string,
  stats: Parameters<typeof toRuntimeUsage>[0] | undefined,
): CgroupUsage | undefined {
  return stats && toRuntimeUsage(stats, { pressure, rate: (usageNanos) => rate(id, usageNanos) })
}
