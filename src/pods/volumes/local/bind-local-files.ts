import { mountsAt, toMountPoint } from '../../../system/mounts/mounts-at.ts'
import { joinMountOptions } from '../claims/mount-options.ts'
import { orUndo } from '../or-undo.ts'
import { setVolumeGroup } from '../mounts/set-volume-group.ts'
import type { VolumeWish } from '../volume-wish.ts'
import { findPodUses } from './find-pod-uses.ts'
import type { LocalVolume, LocalVolumeDeps } from './local-volume-deps.ts'
import { mountDevice } from './mount-device.ts'

/** Binds a directory of the node, or the file system of one of its devices, for a pod. */
export async function bindLocalFiles(
  deps: LocalVolumeDeps,
  { wish, volume }: { readonly wish: VolumeWish; readonly volume: LocalVolume },
  signal: AbortSignal,
): Promise<void> {
  const isDevice = volume.kind === 'blockDevice'
  const source = isDevice ? await mountDevice(deps, volume, wish, signal) : volume.path
  const wasThere = (await mountsAt(deps.mounter, wish.path)).length > 0
  const undo = async () => {
    // What was there may be in use.
    if (wasThere) return
    await deps.mounter.unmount(wish.path, { force: false }, signal)
    await deps.folders.removeDirectory(wish.path)
  }
  if (!wasThere) {
    // Options of a file system are those of its one mount; a bind only takes what holds for this pod.
    const options = joinMountOptions(isDevice ? [] : volume.mountOptions, wish.readOnly ? ['ro'] : [])
    await deps.folders.makeDirectory(wish.path, 0o750)
    await orUndo({ work: () => deps.mounter.bind({ source, target: wish.path, options }, signal), undo }, signal)
  }
  if (wish.fsGroup === undefined || wish.readOnly) return
  const group = { fsGroup: wish.fsGroup, source, wasThere }
  await orUndo({ work: () => giveToGroup(deps, wish, group, signal), undo }, signal)
}

async function giveToGroup(
  deps: LocalVolumeDeps,
  wish: VolumeWish,
  { fsGroup, source, wasThere }: { readonly fsGroup: number; readonly source: string; readonly wasThere: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { mounter, events, rootDirectory, describePath } = deps
  const own = await toMountPoint(wish.path)
  const uses = findPodUses(
    await mounter.table(),
    await toMountPoint(source),
    await toMountPoint(`${rootDirectory}/pods`),
  )
  if (uses.some((point) => point !== own)) {
    const group = (await describePath(source, signal))?.group
    if (group === fsGroup || group === undefined) return
    const message = `The requested fsGroup is ${fsGroup}, but the volume ${wish.specName} has GID ${group}. The volume may not be shareable.`
    return events.record(wish.pod, { type: 'Warning', reason: 'AlreadyMountedVolume', message })
  }
  // One that was there already is in use, or the agent died on the way: the root, which comes last, tells.
  const onlyOnRootMismatch = wasThere || wish.fsGroupChangePolicy === 'OnRootMismatch'
  await setVolumeGroup(deps, { pod: wish.pod, root: wish.path, group: fsGroup, onlyOnRootMismatch }, signal)
}
