import type { Clock } from '../async/clock.ts'
import { killCgroup, listCgroupNames, removeCgroup } from '../host/cgroup-tree.ts'
import { podCgroupPaths, podUidOfCgroup, qosCgroupPaths } from '../model/cgroup-names.ts'
import type { CgroupLayout } from '../model/cgroup-names.ts'
import type { PodUid } from '../model/pod.ts'

/** The cgroups of pods. The runtime makes them with the sandbox; when the pod is gone they are ours to remove. */
export function createPodCgroups(
  options: { readonly layout: CgroupLayout; readonly clock: Clock },
  signal: AbortSignal,
) {
  return {
    async remove(uid: PodUid): Promise<void> {
      if (!options.layout.perQos) return
      for (const path of podCgroupPaths(uid, options.layout)) await removeCgroup(options.clock, path, signal)
    },

    /** The runtime names the cgroup of a container, inside that of its pod, after the container's id. */
    async killContainer(uid: PodUid, containerId: string): Promise<void> {
      if (!options.layout.perQos || containerId === '') return
      for (const path of podCgroupPaths(uid, options.layout)) {
        const names = (await listCgroupNames(path)).filter((name) => name.includes(containerId))
        for (const name of names) await killCgroup(`${path}/${name}`)
      }
    },

    /** UIDs of all pods that have a cgroup. */
    async list(): Promise<readonly PodUid[]> {
      if (!options.layout.perQos) return []
      const names = await Promise.all(qosCgroupPaths(options.layout).map(listCgroupNames))
      return names.flat().flatMap((name) => podUidOfCgroup(name) ?? [])
    },
  }
}
