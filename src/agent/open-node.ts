import type { Loop } from '../base/async/loop.ts'
import { runProcess } from '../system/processes/run-process.ts'
import { createCsi } from '../node/csi/create-csi.ts'
import { NodePressure } from '../node/eviction/node-pressure.ts'
import { createNode } from '../node/registration/create-node.ts'
import { RootDirectoryWatch } from '../node/registration/root-directory-watch.ts'
import { NodeStartup } from '../node/registration/node-startup.ts'
import { openNodeShutdown } from '../node/shutdown/open-node-shutdown.ts'
import { toNodeSettings } from '../pods/sync/to-node-settings.ts'
import { CSI_PLUGIN } from '../pods/volumes/csi/csi-names.ts'
import { DISK_PLUGINS } from '../pods/volumes/disks/create-disk-kinds.ts'
import { VolumesInUse } from '../pods/volumes/volumes-in-use.ts'
import type { Hints } from './hub.ts'
import type { Stages } from './stages.ts'

export type OpenedNode = Awaited<ReturnType<typeof openNode>>

/** This node: what it has, what it reports, and its CSI drivers. */
export async function openNode({ base, runtime, devices }: Pick<Stages, 'base' | 'runtime' | 'devices'>, hub: Hints) {
  const { settings, machine, rootDirectory, host, cluster, membership, metrics, startedAt, clock, log, tasks } = base
  const { config, nodeName } = settings
  const { nodeEvents: events } = membership
  const { health, relists } = runtime
  const onChange = () => hub.nodeChanged()
  cluster?.onNode(onChange)
  const shutdown = await openNodeShutdown(base)
  const pressure = new NodePressure(onChange)
  const csi = await createCsi({ ...base, nodeName, onDrivers: () => hub.driversChanged(), onChange })
  const rootWatch = new RootDirectoryWatch({
    ...base,
    checkWritable: (folder) => host.checkWritable(folder),
    events,
    onChange,
  })
  // Before anything is reported of the node, so that it does not seem ready at each start of the agent.
  await rootWatch.check()
  const volumesInUse = new VolumesInUse([CSI_PLUGIN, ...DISK_PLUGINS], onChange)
  const own = await createNode(
    {
      ...base,
      cluster: cluster && {
        client: cluster.heartbeats,
        cachedNode: cluster.node,
        dropConnections: cluster.dropConnections,
        apiReturn: cluster.apiReturn,
      },
      calls: runtime.calls,
      runtime: runtime.version,
      abilities: () => health.abilities,
      pressures: () => pressure.current,
      problems: () => [
        ...relists.problems(),
        ...health.nodeProblems,
        ...csi.problems(),
        ...shutdown.problems(),
        ...rootWatch.problems(),
      ],
      volumesInUse: () => volumesInUse.names,
      devices: () => devices.plugins.info(),
      events,
      startup: new NodeStartup({
        bootedAt: host.bootedAt,
        startedAt,
        onStep: (step, seconds) => metrics.nodeStartup(step, seconds),
        clock,
      }),
    },
    tasks.signal,
  )
  const podSettings = toNodeSettings(settings, {
    machine,
    nodeIps: () => own.ips(),
    allocatable: () => own.allocatable(),
    cgroups: runtime.cgroups,
    sandboxSeccompProfile: await host.findSandboxProfile(rootDirectory),
  })
  const loops: readonly Loop[] = [
    ...csi.loops,
    { name: 'root directory', run: (s) => rootWatch.run(s) },
    {
      name: 'own node',
      async run(s) {
        await csi.firstCheck(s)
        await own.run(s)
      },
    },
  ]
  const lateLoops: readonly Loop[] = [
    {
      name: 'iptables',
      async run(s) {
        if (!config.makeIPTablesUtilChains) return
        // Loaded only where it is configured.
        const { runIptablesChains } = await import('../node/iptables/run-iptables-chains.ts')
        await runIptablesChains({ runProcess: (request, until) => runProcess(clock, request, until), clock, log }, s)
      },
    },
  ]
  return { own, csi, pressure, shutdown, volumesInUse, podSettings, loops, lateLoops }
}
