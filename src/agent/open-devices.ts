import type { Loop } from '../base/async/loop.ts'
import { createDra, createDraFiles } from '../node/resource-claims/create-dra.ts'
import { toCpuQuotaSettings } from '../pods/sync/to-node-settings.ts'
import { createDevices } from '../node/devices/create-devices.ts'
import { createCpus } from '../node/cpus/create-cpus.ts'
import { createMemory } from '../node/memory/create-memory.ts'
import { joinPlacement } from '../node/placement/join-placement.ts'
import { toPlacementPolicy } from '../node/placement/to-placement-policy.ts'
import type { Hints } from './hub.ts'
import type { Stages } from './stages.ts'

export type Devices = Awaited<ReturnType<typeof openDevices>>

/** What containers get of this machine: devices of plugins, CPUs, memory, claims, and the cgroups that limit them. */
export async function openDevices(
  { base, runtime, registry }: Pick<Stages, 'base' | 'runtime' | 'registry'>,
  hub: Hints,
) {
  const { settings, host, rootDirectory, membership, metrics, tasks } = base
  const { observer } = runtime
  const plugins = await createDevices(
    {
      ...base,
      onNode: () => hub.nodeChanged(),
      onPod: (uid) => registry.wake(uid),
      podEvents: membership.podEvents,
    },
    tasks,
  )
  const nodes = host.numaNodes()
  const quota = toCpuQuotaSettings(settings.config)
  const given = { ...base, runtime, nodes, quota, activePods: () => registry.activePods() }
  const placement = joinPlacement({
    ...base,
    policy: toPlacementPolicy(settings, nodes),
    others: [plugins.provider],
    cpus: await createCpus(given),
    memory: await createMemory(given),
  })
  const dra = await createDra({ ...base, files: createDraFiles(host, rootDirectory), observer, registry }, tasks)
  const cgroups = await host.openCgroups(
    {
      ...base,
      layout: runtime.cgroups,
      pods: () => registry.allActivePods(),
      hasExclusiveCpus: (uid) => placement.hasExclusive(uid),
      onCgroupWork: (operation, seconds) => metrics.cgroupWork(operation, seconds),
      onProtected: (sums) => metrics.memoryProtected(sums),
      events: membership.nodeEvents,
    },
    tasks.signal,
  )
  const loops: readonly Loop[] = [
    { name: 'cgroups', run: (s) => cgroups.run(s) },
    { name: 'placement', run: (s) => placement.run(s) },
    { name: 'devices', run: (s) => plugins.run(s) },
    ...dra.loops,
  ]
  return { plugins, placement, dra, cgroups, loops }
}
