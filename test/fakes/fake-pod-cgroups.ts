import type { Pod, PodUid } from '../../src/model/pod/pod.ts'
import type { RemoveUnknownPodsDeps } from '../../src/pods/leftovers/remove-unknown-pods.ts'
import type { PodDeps } from '../../src/pods/sync/pod-worker.ts'
import type { PodCgroupState } from '../../src/model/resources/cgroup-values.ts'
import { computePodCgroup } from '../../src/pods/containers/compute-pod-cgroup.ts'

const SETTINGS = {
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: 100_000n,
  podPidsLimit: 0n,
  hugepageSizes: [],
  protectsMemory: false,
  exclusiveCpus: false,
}

/** The cgroups of pods, in memory. */
export class FakePodCgroups {
  readonly states = new Map<PodUid, PodCgroupState>()
  /** By container id: the memory in use. */
  readonly memory = new Map<string, bigint>()
  readonly written: string[] = []
  readonly removed: PodUid[] = []
  failure: Error | undefined

  readonly calls: PodDeps['cgroups'] & Pick<RemoveUnknownPodsDeps['cgroups'], 'list' | 'quiesce'> = {
    list: async () => [...this.states.keys()],
    quiesce: async () => {},
    ensure: async (pod) => this.#ensure(pod),
    current: async ({ metadata }) => this.states.get(metadata.uid),
    write: async ({ metadata }, values) => {
      if (this.failure !== undefined) throw this.failure
      const before = this.states.get(metadata.uid)
      if (before === undefined) throw new Error('Cannot change the cgroup of the pod: it is not there')
      this.states.set(metadata.uid, { ...before, ...values })
      this.written.push(
        Object.entries(values)
          .map(([name, value]) => `${name}=${typeof value === 'bigint' ? value : ''}`)
          .join(' '),
      )
    },
    containerMemory: async (_, id) => this.memory.get(id) ?? 1024n,
    remove: async (uid) => {
      this.removed.push(uid)
      this.states.delete(uid)
    },
    killContainer: async () => {},
  }

  #ensure(pod: Pod): boolean {
    if (this.states.has(pod.metadata.uid)) return false
    const { cpuShares, cpuQuota = -1n, cpuPeriod = 100_000n, memoryLimitBytes } = computePodCgroup(pod, SETTINGS)
    const made = { cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes, memoryUsageBytes: 4096n }
    this.states.set(pod.metadata.uid, made)
    return true
  }
}
