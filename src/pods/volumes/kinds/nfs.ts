import { isIPv6 } from 'node:net'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { mountsAt } from '../../../system/mounts/mounts-at.ts'
import { MountError } from '../../../system/mounts/run-mount.ts'
import type { VolumeFiles } from '../../../system/directories/volume-files.ts'
import type { NFSVolumeSource } from '../../../model/generated/core-v1.ts'
import { joinMountOptions, mountOptionsOf } from '../persistent-volumes/mount-options.ts'
import { volumeGroupsOf } from '../persistent-volumes/volume-groups.ts'
import { orUndo } from '../or-undo.ts'
import { UncertainMountError } from '../volume-kind.ts'
import type { VolumeKind } from '../volume-kind.ts'
import type { ReadyVolume, DesiredVolume } from '../desired-volume.ts'

export interface NfsKindDeps {
  readonly mounter: Mounter
  readonly volumeFiles: Pick<VolumeFiles, 'makeDirectory' | 'removeDirectory'>
}

// As long as mount.nfs itself tries by default.
const MOUNT_MS = 120_000

/** Directories of NFS servers. Nothing in them is ever removed, and only mount and umount in child processes touch them. */
export function createNfsKind(deps: NfsKindDeps): VolumeKind {
  const { mounter, volumeFiles } = deps
  return {
    plugin: 'kubernetes.io/nfs',
    refreshed: false,
    measure: 'fileSystem',

    async setUp(desired, signal) {
      const nfs = nfsOf(desired)
      const readOnly = desired.readOnly || nfs.readOnly === true
      // Before the directory is touched: where a server is away, touching hangs.
      if ((await mountsAt(mounter, desired.path)).length === 0) {
        await volumeFiles.makeDirectory(desired.path, 0o750)
        await mountNfs(deps, { desired, nfs, readOnly }, signal)
      }
      return toReady(desired, readOnly)
    },

    async tearDown({ path }, signal) {
      // Force comes only after a plain try has had its minute.
      await mounter.unmount(path, { force: true }, signal)
      await volumeFiles.removeDirectory(path)
    },
  }
}

async function mountNfs(
  { mounter, volumeFiles }: NfsKindDeps,
  {
    desired,
    nfs,
    readOnly,
  }: { readonly desired: DesiredVolume; readonly nfs: NFSVolumeSource; readonly readOnly: boolean },
  signal: AbortSignal,
): Promise<void> {
  const own = desired.source.kind === 'persistent' ? mountOptionsOf(desired.source.volume) : []
  const request = {
    fileSystem: 'nfs',
    source: toExport(nfs),
    target: desired.path,
    options: joinMountOptions(own, readOnly ? ['ro'] : []),
    deadlineMs: MOUNT_MS,
  }
  const undo = async () => {
    await mounter.unmount(desired.path, { force: true }, signal)
    await volumeFiles.removeDirectory(desired.path)
  }
  try {
    await orUndo({ work: () => mounter.mount(request, signal), undo }, signal)
  } catch (error) {
    // One that was given up while it ran may succeed yet.
    if (error instanceof MountError && error.uncertain) throw new UncertainMountError(error.message, { cause: error })
    throw error
  }
}

function nfsOf({ source, name }: DesiredVolume): NFSVolumeSource {
  const nfs = source.kind === 'inline' ? source.volume.nfs : source.volume.spec?.nfs
  if (nfs === undefined) throw new Error(`Cannot mount volume "${name}": it names no NFS server`)
  return nfs
}

/** As mount takes it; colons of an address must not be taken for the one before the path. */
function toExport({ server, path }: NFSVolumeSource): string {
  if (!/^[^\s/-][^\s/]*$/.test(server) || !path.startsWith('/'))
    throw new Error(`Cannot mount "${server}:${path}": expected the name of a server and an absolute path`)
  return `${isIPv6(server) ? `[${server}]` : server}:${path}`
}

function toReady({ path, source }: DesiredVolume, readOnly: boolean): ReadyVolume {
  return { kind: 'files', hostPath: path, readOnly, selinuxRelabel: false, groups: volumeGroupsOf(source) }
}
