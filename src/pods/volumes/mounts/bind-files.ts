import type { PathDescription } from '../../../system/files/describe-path.ts'
import type { VolumeFiles } from '../../../system/directories/volume-files.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { mountsAt, toMountPoint } from '../../../system/mounts/mounts-at.ts'
import type { DesiredVolume } from '../desired-volume.ts'
import { orUndo } from '../or-undo.ts'
import { findPodUses } from '../local/find-pod-uses.ts'
import { setVolumeGroup } from './set-volume-group.ts'
import type { VolumeGroupDeps } from './set-volume-group.ts'

export interface BindFilesDeps extends VolumeGroupDeps {
  readonly rootDirectory: string
  readonly mounter: Pick<Mounter, 'table' | 'bind' | 'unmount'>
  readonly volumeFiles: Pick<VolumeFiles, 'makeDirectory' | 'removeDirectory'>
  readonly describePath: (path: string, signal: AbortSignal) => Promise<PathDescription | undefined>
}

export interface BindFilesRequest {
  readonly desired: DesiredVolume
  readonly source: string
  readonly options: readonly string[]
  /** Parity: a local volume keeps the group of the pod that had it first, a disk gets that of each pod. */
  readonly changesGroupInUse: boolean
}

/** Binds what the node has of a volume for a pod, and gives it to the pod's group. */
export async function bindFiles(deps: BindFilesDeps, request: BindFilesRequest, signal: AbortSignal): Promise<void> {
  const { desired, source, options, changesGroupInUse } = request
  const wasThere = (await mountsAt(deps.mounter, desired.path)).length > 0
  const undo = async () => {
    // What was there may be in use.
    if (wasThere) return
    await deps.mounter.unmount(desired.path, { force: false }, signal)
    await deps.volumeFiles.removeDirectory(desired.path)
  }
  if (!wasThere) {
    await deps.volumeFiles.makeDirectory(desired.path, 0o750)
    await orUndo({ work: () => deps.mounter.bind({ source, target: desired.path, options }, signal), undo }, signal)
  }
  if (desired.fsGroup === undefined || desired.readOnly) return
  const group = { fsGroup: desired.fsGroup, source, wasThere, changesGroupInUse }
  await orUndo({ work: () => giveToGroup(deps, desired, group, signal), undo }, signal)
}

interface GroupChange extends Pick<BindFilesRequest, 'source' | 'changesGroupInUse'> {
  readonly fsGroup: number
  readonly wasThere: boolean
}

async function giveToGroup(
  deps: BindFilesDeps,
  desired: DesiredVolume,
  { fsGroup, source, wasThere, changesGroupInUse }: GroupChange,
  signal: AbortSignal,
): Promise<void> {
  const { mounter, events, rootDirectory, describePath } = deps
  const own = await toMountPoint(desired.path)
  const uses = findPodUses(
    await mounter.table(),
    await toMountPoint(source),
    await toMountPoint(`${rootDirectory}/pods`),
  )
  if (!changesGroupInUse && uses.some((point) => point !== own)) {
    const group = (await describePath(source, signal))?.group
    if (group === fsGroup || group === undefined) return
    const message = `The requested fsGroup is ${fsGroup}, but the volume ${desired.specName} has GID ${group}. The volume may not be shareable.`
    return events.record(desired.pod, { type: 'Warning', reason: 'AlreadyMountedVolume', message })
  }
  // One that was there already is in use, or the agent died on the way: the root, which comes last, shows which.
  const onlyOnRootMismatch = wasThere || desired.fsGroupChangePolicy === 'OnRootMismatch'
  await setVolumeGroup(deps, { pod: desired.pod, root: desired.path, group: fsGroup, onlyOnRootMismatch }, signal)
}
