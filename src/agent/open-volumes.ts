import type { PodObjects } from '../pods/objects/pod-objects.ts'
import { createCsiKind } from '../pods/volumes/csi/create-csi-kind.ts'
import { CSI_PLUGIN } from '../pods/volumes/csi/csi-names.ts'
import { createDiskKinds } from '../pods/volumes/disks/create-disk-kinds.ts'
import { SelinuxMounts, toSelinuxGates } from '../pods/volumes/selinux/selinux-mounts.ts'
import { createVolumeProjects } from '../pods/volumes/usage/create-volume-projects.ts'
import { VolumeMeter } from '../pods/volumes/usage/volume-meter.ts'
import { Volumes } from '../pods/volumes/volumes.ts'
import type { Stages } from './stages.ts'

/** The volumes of pods, and what they take. */
export async function openVolumes(
  { base, registry, node }: Pick<Stages, 'base' | 'registry' | 'node'>,
  objects: PodObjects,
) {
  const { settings, machine, membership, guarded, tasks } = base
  const { podEvents: events, nodeEvents } = membership
  const { volumesInUse: inUse } = node
  const projects = await createVolumeProjects(base)
  const csi = createCsiKind(
    {
      ...base,
      csi: node.csi,
      objects,
      events,
      evict: (uid, verdict, s) => registry.evict(uid, verdict, s),
      onInUse: (names) => inUse.set(CSI_PLUGIN, names),
    },
    tasks,
  )
  const { attachments } = node.csi
  const disks = createDiskKinds({ ...base, attachments, inUse, objects, events }, tasks)
  const storage = base.host.openVolumes({
    ...base,
    csi,
    disks,
    projects,
    objects,
    projections: membership.projections,
    nodeName: settings.nodeName,
    node: () => node.own.node(),
    nodeAllocatable: () => node.podSettings.container.allocatable,
    swapIsOn: machine.swapBytes > 0n,
    remoteMountHelper: settings.flags.experimentalMounterPath,
    events,
    nodeEvents,
  })
  const { selinuxEnabled, selinuxFileContext: fileContext } = machine
  const selinux = new SelinuxMounts({ ...base, fileContext, gates: toSelinuxGates(settings.gates) })
  const volumes = new Volumes({ ...base, ...storage, selinuxEnabled, selinux, events }, tasks)
  base.cluster?.onApiReturn(() => volumes.apiAnswers())
  const volumeStats = new VolumeMeter({
    ...base,
    mounted: () => volumes.mounted(),
    files: guarded,
    projects,
    periodMs: settings.config.volumeStatsAggPeriod,
    reportsHealth: settings.gates.enabled('CSIVolumeHealth'),
  })
  return { volumes, csi, staged: [csi, ...disks], volumeStats }
}
