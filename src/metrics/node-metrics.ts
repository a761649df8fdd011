import type { ObservedPod } from '../model/pod/observed-pod.ts'
import { computePodCounts } from './compute-pod-counts.ts'
import type { PodCounts, WantedPod, WorkedPod } from './compute-pod-counts.ts'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** A feature gate as metrics show it. */
interface GateInfo {
  readonly name: string
  /** ALPHA, BETA, DEPRECATED; empty for what is generally available. */
  readonly stage: string
  readonly enabled: boolean
}

/** What is read of the node when somebody asks. */
export interface NodeInfo {
  readonly name: string
  readonly cgroupVersion: 1 | 2
  readonly gates: () => readonly GateInfo[]
  readonly wanted: () => readonly WantedPod[]
  readonly observed: () => readonly ObservedPod[]
  readonly worked: () => readonly WorkedPod[]
  /** When our certificates end, in milliseconds since the epoch; undefined for one that is not there. */
  readonly certificates: () => { readonly client: number | undefined; readonly server: number | undefined }
  readonly now: () => number
}

/** The node and its pods, by the names of the Go kubelet. */
export function addNodeMetrics(set: MetricSet, info: NodeInfo): void {
  const { name: node } = info
  set.read({ name: 'kubelet_node_name', help: 'The name of this node.', labels: ['node'] }, () => [
    { labels: { node }, value: 1 },
  ])
  // The name for reading cgroup files, in place of asking the runtime for figures.
  set.read({ name: 'kubelet_metrics_provider', help: 'Where figures of pods come from.', labels: ['provider'] }, () => [
    { labels: { provider: 'cadvisor' }, value: 1 },
  ])
  const version = info.cgroupVersion
  set.readOne({ name: 'kubelet_cgroup_version', help: 'The version of cgroups that is used.' }, () => version)
  set.read(
    {
      name: 'kubernetes_feature_enabled',
      help: 'Feature gates and whether they are on.',
      stability: 'BETA',
      labels: ['name', 'stage'],
    },
    () => info.gates().map(({ name, stage, enabled }) => ({ labels: { name, stage }, value: Number(enabled) })),
  )
  addPodCounts(set, () => computePodCounts(info.wanted(), info.observed(), info.worked()))
  addLifetimes(set, info)
}

function addPodCounts(set: MetricSet, count: () => PodCounts): void {
  const byStatic = (name: string, help: string, read: (counts: PodCounts) => Readonly<Record<string, number>>) =>
    set.read({ name, help, labels: ['static'] }, () =>
      Object.entries(read(count())).map(([value, pods]) => ({ labels: { static: value }, value: pods })),
    )
  byStatic('kubelet_desired_pods', 'Pods that are wanted on this node; static: by the node itself.', (c) => c.desired)
  byStatic('kubelet_active_pods', 'Pods that are wanted on this node and not over.', (c) => c.active)
  const one = (name: string, help: string, read: (counts: PodCounts) => number) =>
    set.readOne({ name, help }, () => read(count()))
  one('kubelet_mirror_pods', 'Pods of the API server that stand for one of the node itself.', (c) => c.mirror)
  one(
    'kubelet_managed_ephemeral_containers',
    'Ephemeral containers in the specs of pods.',
    (c) => c.ephemeralContainers,
  )
  one('kubelet_running_pods', 'Pods whose sandbox is ready.', (c) => c.running)
  set.read({ name: 'kubelet_running_containers', help: 'Containers by state.', labels: ['container_state'] }, () =>
    Object.entries(count().containers).map(([state, value]) => ({ labels: { container_state: state }, value })),
  )
  set.read(
    {
      name: 'kubelet_working_pods',
      help: 'Pods that somebody looks after, by what is done with them.',
      labels: ['config', 'lifecycle', 'static'],
    },
    () => count().working.map(({ count: value, ...labels }) => ({ labels, value })),
  )
}

function addLifetimes(set: MetricSet, { certificates, now }: NodeInfo): void {
  const lifetime = (name: string, help: string, read: () => number | undefined) =>
    set.readOne({ name, help }, () => {
      const end = read()
      return end === undefined ? Infinity : (end - now()) / 1000
    })
  lifetime(
    'kubelet_certificate_manager_client_ttl_seconds',
    'How long the client certificate is still valid.',
    () => certificates().client,
  )
  lifetime(
    'kubelet_certificate_manager_server_ttl_seconds',
    'How long the serving certificate is still valid.',
    () => certificates().server,
  )
}
