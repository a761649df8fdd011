import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { PodCgroupState } from '../../model/resources/cgroup-values.ts'
import { computePodCgroup } from '../../pods/containers/compute-pod-cgroup.ts'
import type { RemoveUnknownPodsDeps } from '../../pods/leftovers/remove-unknown-pods.ts'
import type { PodDeps } from '../../pods/sync/pod-worker.ts'

type Calls = PodDeps['cgroups'] & Pick<RemoveUnknownPodsDeps['cgroups'], 'list' | 'quiesce'>

const SETTINGS = {
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: 100_000n,
  podPidsLimit: 0n,
  hugepageSizes: [],
  protectsMemory: false,
  exclusiveCpus: false,
}
const SMALL = 1024n

/** The cgroups of pods, in memory. */
export class InMemoryPodCgroups {
  readonly states = new Map<PodUid, PodCgroupState>()
  /** By container id: the memory in use. */
  readonly memory = new Map<string, bigint>()

  readonly calls: Calls = {
    list: async () => [...this.states.keys()],
    quiesce: async () => {},
    ensure: async (pod) => this.#ensure(pod),
    current: async ({ metadata }) => this.states.get(metadata.uid),
    write: async ({ metadata }, values) => {
      const before = this.states.get(metadata.uid)
      if (before === undefined) throw new Error('Cannot change the cgroup of the pod: it is not there')
      this.onWrite(values)
      this.states.set(metadata.uid, { ...before, ...values })
    },
    containerMemory: async (_, id) => this.memory.get(id) ?? SMALL,
    remove: async (uid) => {
      this.onRemove(uid)
      this.states.delete(uid)
    },
    killContainer: async () => {},
  }

  /** Throws where a write is to fail. */
  protected onWrite(_values: Parameters<Calls['write']>[1]): void {}

  protected onRemove(_uid: PodUid): void {}

  /** Throws where the cgroup of a pod is not to be made. */
  protected onEnsure(): void {}

  #ensure(pod: Pod): boolean {
    this.onEnsure()
    if (this.states.has(pod.metadata.uid)) return false
    const { cpuShares, cpuQuota = -1n, cpuPeriod = 100_000n, memoryLimitBytes } = computePodCgroup(pod, SETTINGS)
    const made = { cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes, memoryUsageBytes: 4096n }
    this.states.set(pod.metadata.uid, made)
    return true
  }
}
