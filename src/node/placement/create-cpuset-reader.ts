import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import { podCgroupPaths } from '../../model/resources/cgroup-names.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import { parseCpuSet } from '../../model/resources/cpu-set.ts'
import type { PodUid } from '../../model/pod/pod.ts'

// The kernel's file, and CRI's field.
const FIELDS = { 'cpuset.cpus': 'cpusetCpus', 'cpuset.mems': 'cpusetMems' } as const

/** The runtime, as far as the cpusets of its containers are concerned. */
export interface CpusetRuntime {
  readonly calls: Pick<CriCalls, 'containerStatus' | 'updateContainerResources'>
  readonly cgroups: CgroupLayout
}

/** Where the kernel's files about cgroups are read. */
export interface CpusetHost {
  cgroupReader(): CgroupReader
}

/** Reads to which CPUs or NUMA nodes a container is bound: from the kernel, else from the runtime; undefined when neither says. */
export function createCpusetReader(
  file: keyof typeof FIELDS,
  { host, runtime }: { readonly host: CpusetHost; readonly runtime: CpusetRuntime },
) {
  const reader = host.cgroupReader()
  const { calls, cgroups } = runtime
  return async (
    { uid, id }: { readonly uid: PodUid; readonly id: string },
    signal: AbortSignal,
  ): Promise<ReadonlySet<number> | undefined> => {
    for (const path of cgroups.perQos ? podCgroupPaths(uid, cgroups) : [cgroups.root]) {
      const name = reader.children(path).find((child) => child.includes(id))
      const text = name === undefined ? undefined : reader.read('cpuset', `${path}/${name}`, file)
      if (text !== undefined) return new Set(parseCpuSet(text.trim()))
    }
    const { status } = await calls.containerStatus({ containerId: id }, signal)
    const text = status?.resources?.linux?.[FIELDS[file]]
    return text === undefined ? undefined : new Set(parseCpuSet(text))
  }
}
