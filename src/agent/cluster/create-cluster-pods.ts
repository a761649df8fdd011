import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodRegistry } from '../../pods/sync/pod-registry.ts'
import { decodeAnyApiPod } from '../../pods/sources/decode-api-pod.ts'
import { MirrorPods } from '../../pods/sources/mirror-pods.ts'
import type { MirrorPodsDeps } from '../../pods/sources/mirror-pods.ts'
import { runApiSource } from '../../pods/sources/run-api-source.ts'
import type { ApiSourceDeps } from '../../pods/sources/run-api-source.ts'
import { StatusWriter } from '../../pods/status/status-writer.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'

export interface ClusterPodsDeps {
  readonly client: Pick<KubeClient, 'send'>
  readonly nodeName: string
  /** The own Node as the API has it; undefined while it is not there. */
  readonly node: MirrorPodsDeps['node']
  readonly nodeSeen: ApiSourceDeps['nodeSeen']
  readonly follow: ApiSourceDeps['follow']
  /** A hint: the API answers. */
  readonly onApiReturn: (listener: () => void) => void
  readonly registry: Pick<PodRegistry, 'view' | 'staticPods'>
  /** Every source has reported what it has. */
  readonly allSeen: () => boolean
  readonly events: PodEvents
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
  /** A status has reached the API, so many seconds after it first was another. */
  readonly onReported?: (seconds: number) => void
}

/** The pods of this node in the API: those it wants here, the status reported of them, and mirrors of the pods that come from other sources. */
export function createClusterPods(deps: ClusterPodsDeps) {
  const { registry } = deps
  const writer = new StatusWriter({
    ...deps,
    report: (uid) => registry.view(uid),
    decode: (object) => decodeAnyApiPod(object).pod,
  })
  const mirrors = new MirrorPods({ ...deps, staticPods: () => registry.staticPods() })
  deps.onApiReturn(() => {
    writer.apiAnswers()
    mirrors.apiAnswers()
  })
  return {
    writer,
    mirrors,
    /** The status of a pod may have changed. */
    onStatus(uid: PodUid): void {
      writer.wake(uid)
      mirrors.wake()
    },
    /** The source: emits the complete set of pods that the API wants here. */
    async runSource(emit: (pods: readonly Pod[]) => void, signal: AbortSignal): Promise<void> {
      const take: ApiSourceDeps['emit'] = (set) => {
        emit(set.pods)
        writer.see([...set.pods, ...set.mirrors])
        mirrors.see(set.mirrors)
      }
      await runApiSource({ ...deps, emit: take }, signal)
    },
    /** Reports to the API until the signal aborts. */
    async run(signal: AbortSignal): Promise<void> {
      await using group = new TaskGroup(signal)
      group.run('status writer', (s) => writer.run(s))
      group.run('mirror pods', (s) => mirrors.run(s))
      await group.join()
    },
  }
}
