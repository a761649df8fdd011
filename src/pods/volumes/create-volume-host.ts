import type { Clock } from '../../base/async/clock.ts'
import { createAtomicWriter } from '../../system/files/payload/atomic-writer.ts'
import { createBlockDevices } from '../../system/mounts/block-devices.ts'
import { describePath } from '../../system/files/describe-path.ts'
import { deviceFiles } from '../../system/directories/device-files.ts'
import type { GuardedFiles } from '../../system/guarded/guarded-files.ts'
import { makeMountPoints } from '../../system/mounts/make-mount-points.ts'
import type { Mounter } from '../../system/mounts/mounter.ts'
import { createNoswapProbe } from '../../system/directories/noswap-probe.ts'
import { createVolumeFiles } from '../../system/directories/volume-files.ts'
import { createVolumeFolders } from '../../system/directories/volume-folders.ts'
import type { ResourceAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { PodObjects } from '../objects/pod-objects.ts'
import type { VolumeMetrics } from '../../metrics/volume-metrics.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { findVolumeSource } from './persistent-volumes/find-volume-source.ts'
import { createEmptyDirectories } from './usage/empty-directories.ts'
import { createConfigMapKind } from './kinds/config-map.ts'
import type { CsiKind } from './kinds/csi.ts'
import { createDownwardApiKind } from './kinds/downward-api.ts'
import { createEmptyDirKind } from './kinds/empty-dir.ts'
import { createHostPathKind } from './kinds/host-path.ts'
import { createLocalKind } from './kinds/local.ts'
import { createNfsKind } from './kinds/nfs.ts'
import { createProjectedKind } from './kinds/projected.ts'
import { createSecretKind } from './kinds/secret.ts'
import { rejectVolume } from './reject-volume.ts'
import type { VolumeKind } from './volume-kind.ts'
import type { VolumeProjects } from './usage/volume-projects.ts'
import type { VolumeContent } from './payload/volume-content.ts'
import type { VolumesDeps } from './volumes.ts'

export interface VolumeHostDeps {
  readonly host: { openMounter(options: { readonly remoteHelper: string }): Mounter }
  readonly rootDirectory: string
  readonly guarded: GuardedFiles
  /** Counts what volumes take; undefined when they are walked through. */
  readonly projects?: VolumeProjects | undefined
  readonly csi: CsiKind
  /** Of disks that come over a network. */
  readonly disks: readonly VolumeKind[]
  readonly objects: Pick<
    PodObjects,
    'configMap' | 'secret' | 'token' | 'claim' | 'persistentVolume' | 'patchClaimStatus'
  >
  /** Undefined without a cluster. */
  readonly projections?: Pick<VolumeContent, 'trustAnchors' | 'podCertificate'> | undefined
  readonly nodeName: string
  /** This node, as the affinity of persistent volumes sees it. */
  readonly node: () => Node
  readonly nodeAllocatable: () => ResourceAmounts
  readonly swapIsOn: boolean
  /** --experimental-mounter-path */
  readonly remoteMountHelper: string
  readonly events: PodEvents
  readonly nodeEvents: NodeEvents
  readonly metrics: Pick<VolumeMetrics, 'storageOperation' | 'volumeFound' | 'foreignVolumeCleaned'>
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** What volumes need of the machine. */
export type VolumeHost = Pick<VolumesDeps, 'kinds' | 'findSource' | 'refusal' | 'mounter' | 'guarded' | 'folders'>

/** Volumes on this machine, of every kind that there is. */
export function createVolumeHost(deps: VolumeHostDeps): VolumeHost {
  const { host, rootDirectory, guarded, objects } = deps
  const mounter = host.openMounter({ remoteHelper: deps.remoteMountHelper })
  return {
    kinds: createKinds(deps, mounter),
    findSource: (pod, used, signal) => findVolumeSource({ objects, node: deps.node }, { pod, used }, signal),
    refusal: rejectVolume,
    mounter,
    guarded,
    folders: createVolumeFolders({ rootDirectory }),
  }
}

function createKinds(deps: VolumeHostDeps, mounter: Mounter): readonly VolumeKind[] {
  const { rootDirectory, guarded, clock, log } = deps
  const volumeFiles = createVolumeFiles({ rootDirectory })
  const noswap = createNoswapProbe({
    mounter,
    volumeFiles,
    directory: `${rootDirectory}/deckhand/noswap`,
    swapIsOn: deps.swapIsOn,
    events: deps.nodeEvents,
  })
  const directories = createEmptyDirectories({ ...deps, mounter, volumeFiles, noswap })
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
    createNfsKind({ mounter, volumeFiles }),
    deps.csi,
    ...deps.disks,
    createLocalKind({
      ...deps,
      mounter,
      volumeFiles,
      devices: createBlockDevices({ clock, log }),
      deviceFiles,
      describePath: (path, signal) => describePath(clock, path, signal),
    }),
  ]
}
