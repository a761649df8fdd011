import { killCgroup, listCgroupNames } from '../../system/cgroups/cgroup-tree.ts'
import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import { CgroupError } from '../../model/resources/cgroup-error.ts'
import { podCgroupPath, podCgroupPaths, podUidOfCgroup, qosCgroupPaths } from '../../model/resources/cgroup-names.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import { cpuShares } from '../../model/resources/cpu-shares-and-quota.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { CgroupDriver } from './cgroup-driver.ts'
import type { CgroupValues, PodCgroupState } from '../../model/resources/cgroup-values.ts'
import { computePodCgroup } from '../../pods/containers/compute-pod-cgroup.ts'
import type { PodCgroupSettings } from '../../pods/containers/compute-pod-cgroup.ts'
import { readPodCgroup } from './read-pod-cgroup.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface PodCgroupsDeps {
  readonly layout: CgroupLayout
  readonly driver: CgroupDriver
  readonly reader: CgroupReader
  readonly settings: Omit<PodCgroupSettings, 'exclusiveCpus'>
  /** A container of this pod has exclusive CPUs. */
  readonly hasExclusiveCpus: (uid: PodUid) => boolean
  /** A pod comes or goes. */
  readonly onChange: () => void
}

/** The cgroups of pods: made before anything of a pod is there, removed when nothing of it is left. Pods come with the resources that they really have. */
export function createPodCgroups(deps: PodCgroupsDeps, signal: AbortSignal) {
  const { layout, driver } = deps
  const isThere = (path: string) => driver.missing(path).length === 0
  return {
    /** Makes the pod's cgroup where there is none; true when it did. One that is there stays as it is. */
    async ensure(pod: Pod): Promise<boolean> {
      const path = podCgroupPath(pod, layout)
      if (!layout.perQos || isThere(path)) return false
      deps.onChange()
      const exclusiveCpus = deps.hasExclusiveCpus(pod.metadata.uid)
      try {
        await driver.make(path, computePodCgroup(pod, { ...deps.settings, exclusiveCpus }))
      } catch (cause) {
        const why = errorMessage(cause)
        const name = path.split('/').filter((part) => part !== '')
        throw new CgroupError(`failed to create container for [${name.join(' ')}] : ${why}`, { cause })
      }
      return true
    },

    /** What is in force; undefined when the pod has no cgroup. */
    async current(pod: Pod): Promise<PodCgroupState | undefined> {
      const path = podCgroupPath(pod, layout)
      return layout.perQos && isThere(path) ? readPodCgroup(deps.reader, path) : undefined
    },

    /** Changes the values named, and no others. */
    async write(pod: Pod, values: CgroupValues): Promise<void> {
      const path = podCgroupPath(pod, layout)
      if (!layout.perQos) return
      try {
        await driver.update(path, values)
      } catch (cause) {
        const why = errorMessage(cause)
        throw new CgroupError(`Cannot change the cgroup of the pod: ${why}`, { cause })
      }
      deps.onChange()
    },

    /** What still runs in the cgroup of an unknown pod gets the smallest CPU share. */
    async quiesce(uid: PodUid): Promise<void> {
      if (!layout.perQos) return
      const paths = podCgroupPaths(uid, layout).filter((path) => driver.exists(path))
      for (const path of paths) await driver.update(path, { cpuShares: cpuShares(0n) })
    },

    async remove(uid: PodUid): Promise<void> {
      if (!layout.perQos) return
      for (const path of podCgroupPaths(uid, layout)) await driver.remove(path, signal)
      deps.onChange()
    },

    /** The runtime names the cgroup of a container, inside that of its pod, after the container's id. */
    async killContainer(uid: PodUid, containerId: string): Promise<void> {
      if (!layout.perQos || containerId === '') return
      for (const path of podCgroupPaths(uid, layout)) {
        const names = (await listCgroupNames(path)).filter((name) => name.includes(containerId))
        for (const name of names) await killCgroup(`${path}/${name}`)
      }
    },

    /** The memory that one container of a pod uses; undefined when it is not known. */
    async containerMemory(uid: PodUid, containerId: string): Promise<bigint | undefined> {
      if (!layout.perQos || containerId === '') return undefined
      for (const path of podCgroupPaths(uid, layout)) {
        const name = (await listCgroupNames(path)).find((each) => each.includes(containerId))
        if (name !== undefined) return readPodCgroup(deps.reader, `${path}/${name}`).memoryUsageBytes
      }
      return undefined
    },

    /** UIDs of all pods that have a cgroup. */
    async list(): Promise<readonly PodUid[]> {
      if (!layout.perQos) return []
      const names = await Promise.all(qosCgroupPaths(layout).map(listCgroupNames))
      return names.flat().flatMap((name) => podUidOfCgroup(name) ?? [])
    },
  }
}
