import type { Clock } from './async/clock.ts'
import type { TaskGroup } from './async/task-group.ts'
import { createAtomicWriter } from './host/atomic-writer.ts'
import { createBlockDevices } from './host/block-devices.ts'
import { describePath } from './host/describe-path.ts'
import { deviceFiles } from './host/device-files.ts'
import type { GuardedFiles } from './host/guarded-files.ts'
import { makeMountPoints } from './host/make-mount-points.ts'
import { createMounter } from './host/mounter.ts'
import { createNoswapProbe } from './host/noswap-probe.ts'
import { createVolumeFiles } from './host/volume-files.ts'
import { createVolumeFolders } from './host/volume-folders.ts'
import type { ResourceAmounts } from './model/compute-pod-requests.ts'
import type { SelectableNode } from './model/matches-node-selector.ts'
import type { PodObjects } from './objects/pod-objects.ts'
import type { VolumeMetrics } from './telemetry/create-volume-metrics.ts'
import type { Logger } from './telemetry/logger.ts'
import type { NodeEvents } from './telemetry/node-events.ts'
import type { PodEvents } from './telemetry/pod-events.ts'
import { findVolumeSource } from './volumes/claims/find-volume-source.ts'
import { createEmptyDirectories } from './volumes/empty-directories.ts'
import { createConfigMapKind } from './volumes/kinds/config-map.ts'
import type { CsiKind } from './volumes/kinds/csi.ts'
import { createDownwardApiKind } from './volumes/kinds/downward-api.ts'
import { createEmptyDirKind } from './volumes/kinds/empty-dir.ts'
import { createHostPathKind } from './volumes/kinds/host-path.ts'
import { createLocalKind } from './volumes/kinds/local.ts'
import { createNfsKind } from './volumes/kinds/nfs.ts'
import { createProjectedKind } from './volumes/kinds/projected.ts'
import { createSecretKind } from './volumes/kinds/secret.ts'
import { refuseVolume } from './volumes/refuse-volume.ts'
import type { VolumeKind } from './volumes/volume-kind.ts'
import type { VolumeProjects } from './volumes/volume-projects.ts'
import type { VolumeContent } from './volumes/volume-content.ts'
import { Volumes } from './volumes/volumes.ts'

export interface CreateVolumesDeps {
  readonly rootDirectory: string
  readonly guarded: GuardedFiles
  /** Counts what volumes take; undefined when they are walked through. */
  readonly projects?: VolumeProjects | undefined
  readonly csi: CsiKind
  readonly objects: Pick<PodObjects, 'configMap' | 'secret' | 'token' | 'claim' | 'persistentVolume'>
  /** Undefined without a cluster. */
  readonly projections?: Pick<VolumeContent, 'trustAnchors' | 'podCertificate'> | undefined
  /** This node, as the affinity of persistent volumes sees it. */
  readonly node: () => SelectableNode
  readonly nodeAllocatable: () => ResourceAmounts
  readonly swapIsOn: boolean
  readonly selinuxEnabled: boolean
  /** --experimental-mounter-path */
  readonly remoteMountHelper: string
  readonly events: PodEvents
  readonly nodeEvents: NodeEvents
  readonly metrics: Pick<VolumeMetrics, 'storageOperation' | 'volumeFound' | 'foreignVolumeCleaned'>
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** The volumes of pods on this machine, of every kind that there is. */
export function createVolumes(deps: CreateVolumesDeps, group: TaskGroup): Volumes {
  const { rootDirectory, guarded, objects, clock } = deps
  const mounter = createMounter({ clock, remoteHelper: deps.remoteMountHelper })
  return new Volumes(
    {
      ...deps,
      kinds: createKinds(deps, mounter),
      findSource: (pod, used, signal) => findVolumeSource({ objects, node: deps.node }, { pod, used }, signal),
      refusal: refuseVolume,
      mounter,
      files: guarded,
      folders: createVolumeFolders({ rootDirectory }),
    },
    group,
  )
}

function createKinds(deps: CreateVolumesDeps, mounter: ReturnType<typeof createMounter>): readonly VolumeKind[] {
  const { rootDirectory, guarded, clock, log } = deps
  const files = createVolumeFiles({ rootDirectory })
  const noswap = createNoswapProbe({
    mounter,
    files,
    directory: `${rootDirectory}/deckhand/noswap`,
    swapIsOn: deps.swapIsOn,
    events: deps.nodeEvents,
  })
  const directories = createEmptyDirectories({ ...deps, mounter, files, noswap })
  const content = {
    ...deps,
    directories,
    writer: createAtomicWriter(deps),
    makeMountPoints,
    content: { ...deps.objects, ...deps.projections },
  }
  return [
    createEmptyDirKind({ directories, projects: deps.projects }),
    createHostPathKind({ guarded }),
    createConfigMapKind(content),
    createSecretKind(content),
    createDownwardApiKind(content),
    createProjectedKind(content),
    createNfsKind({ mounter, folders: files }),
    deps.csi,
    createLocalKind({
      ...deps,
      mounter,
      folders: files,
      files: guarded,
      devices: createBlockDevices({ clock, log }),
      deviceFiles,
      describePath: (path, signal) => describePath(clock, path, signal),
    }),
  ]
}
