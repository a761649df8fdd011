import { mountsAt, toMountPoint } from '../../../system/mounts/mounts-at.ts'
import { joinMountOptions } from '../claims/mount-options.ts'
import { orUndo } from '../or-undo.ts'
import { setVolumeGroup } from '../mounts/set-volume-group.ts'
import type { DesiredVolume } from '../desired-volume.ts'
import { findPodUses } from './find-pod-uses.ts'
import type { LocalVolume, LocalVolumeDeps } from './local-volume-deps.ts'
import { mountDevice } from './mount-device.ts'

/** Binds a directory of the node, or the file system of one of its devices, for a pod. */
export async function bindLocalFiles(
  deps: LocalVolumeDeps,
  { desired, volume }: { readonly desired: DesiredVolume; readonly volume: LocalVolume },
  signal: AbortSignal,
): Promise<void> {
  const isDevice = volume.kind === 'blockDevice'
  const source = isDevice ? await mountDevice(deps, volume, desired, signal) : volume.path
  const wasThere = (await mountsAt(deps.mounter, desired.path)).length > 0
  const undo = async () => {
    // What was there may be in use.
    if (wasThere) return
    await deps.mounter.unmount(desired.path, { force: false }, signal)
    await deps.folders.removeDirectory(desired.path)
  }
  if (!wasThere) {
    // Options of a file system are those of its one mount; a bind only takes what holds for this pod.
    const options = joinMountOptions(isDevice ? [] : volume.mountOptions, desired.readOnly ? ['ro'] : [])
    await deps.folders.makeDirectory(desired.path, 0o750)
    await orUndo({ work: () => deps.mounter.bind({ source, target: desired.path, options }, signal), undo }, signal)
  }
  if (desired.fsGroup === undefined || desired.readOnly) return
  const group = { fsGroup: desired.fsGroup, source, wasThere }
  await orUndo({ work: () => giveToGroup(deps, desired, group, signal), undo }, signal)
}

async function giveToGroup(
  deps: LocalVolumeDeps,
  desired: DesiredVolume,
  { fsGroup, source, wasThere }: { readonly fsGroup: number; readonly source: string; readonly wasThere: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { mounter, events, rootDirectory, describePath } = deps
  const own = await toMountPoint(desired.path)
  const uses = findPodUses(
    await mounter.table(),
    await toMountPoint(source),
    await toMountPoint(`${rootDirectory}/pods`),
  )
  if (uses.some((point) => point !== own)) {
    const group = (await describePath(source, signal))?.group
    if (group === fsGroup || group === undefined) return
    const message = `The requested fsGroup is ${fsGroup}, but the volume ${desired.specName} has GID ${group}. The volume may not be shareable.`
    return events.record(desired.pod, { type: 'Warning', reason: 'AlreadyMountedVolume', message })
  }
  // One that was there already is in use, or the agent died on the way: the root, which comes last, shows which.
  const onlyOnRootMismatch = wasThere || desired.fsGroupChangePolicy === 'OnRootMismatch'
  await setVolumeGroup(deps, { pod: desired.pod, root: desired.path, group: fsGroup, onlyOnRootMismatch }, signal)
}
