import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import { ContainerState } from '../../protocols/cri/generated/runtime-v1.ts'
import type { RuntimeUsage } from '../runtime/runtime-handlers.ts'
import type { SimulatedContainer, SimulatedRuntime } from '../runtime/simulated-runtime.ts'

interface CgroupDeps {
  readonly runtime: SimulatedRuntime
  readonly usageOf: (container: SimulatedContainer) => RuntimeUsage
}

const POD = /\/pod([\w-]+)(?:\/(\w+))?$/
const NANOS_PER_MICRO = 1000n

/** Files of cgroups (version 2) that say what simulated containers use. What belongs to no pod uses nothing. */
export function createSimulatedCgroups({ runtime, usageOf }: CgroupDeps): CgroupReader {
  const find = (cgroup: string) => {
    const [, uid, id] = POD.exec(cgroup) ?? []
    return { uid, id }
  }
  const containersIn = (cgroup: string) => {
    const { uid, id } = find(cgroup)
    return runtime.containers
      .values()
      .filter((container) => container.state === ContainerState.CONTAINER_RUNNING)
      .filter((container) => (id === undefined ? uid === undefined || uidOf(container) === uid : container.id === id))
  }
  const uidOf = ({ sandboxId }: SimulatedContainer) => runtime.sandboxes.get(sandboxId)?.config.metadata?.uid
  const sum = (cgroup: string, part: keyof RuntimeUsage) =>
    containersIn(cgroup).reduce((total, container) => total + usageOf(container)[part], 0n)
  const hasPod = (uid: string) => runtime.sandboxes.values().some(({ config }) => config.metadata?.uid === uid)
  return {
    version: 2,
    read(_, cgroup, file) {
      if (file === 'cpu.stat') return `usage_usec ${sum(cgroup, 'cpuNanoseconds') / NANOS_PER_MICRO}\n`
      if (file === 'memory.stat') return `anon ${sum(cgroup, 'workingSetBytes')}\n`
      if (file === 'memory.current') return `${sum(cgroup, 'workingSetBytes')}\n`
      return undefined
    },
    exists(cgroup) {
      const { uid, id } = find(cgroup)
      return uid === undefined || (id === undefined ? hasPod(uid) : runtime.containers.has(id))
    },
    children(cgroup) {
      const { uid } = find(cgroup)
      return uid === undefined
        ? []
        : containersIn(cgroup)
            .map(({ id }) => id)
            .toArray()
    },
  }
}
