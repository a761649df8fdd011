import type { CsiAccessMode, CsiCapability, CsiVolumeCapability } from '../../../protocols/csi/csi-drivers.ts'
import { selinuxMountOptions } from '../selinux/compute-selinux-label.ts'
import type { CsiVolume } from './csi-volume.ts'

const MODES: ReadonlyMap<string, CsiAccessMode> = new Map([
  ['ReadWriteOnce', 'SINGLE_NODE_WRITER'],
  ['ReadOnlyMany', 'MULTI_NODE_READER_ONLY'],
  ['ReadWriteMany', 'MULTI_NODE_MULTI_WRITER'],
  ['ReadWriteOncePod', 'SINGLE_NODE_WRITER'],
])
// For drivers that distinguish what one node has for many and what it has for one.
const FINER_MODES: ReadonlyMap<string, CsiAccessMode> = new Map([
  ['ReadWriteOnce', 'SINGLE_NODE_MULTI_WRITER'],
  ['ReadWriteOncePod', 'SINGLE_NODE_SINGLE_WRITER'],
])

/** How a volume is used, for its driver; the group only where the driver sees to it. */
export function toCapability(
  { use, accessModes, fsType, mountOptions, selinuxLabel }: CsiVolume,
  can: ReadonlySet<CsiCapability>,
  fsGroup: number | undefined,
): CsiVolumeCapability {
  const [mode = 'ReadWriteOnce'] = accessModes
  const finer = can.has('SINGLE_NODE_MULTI_WRITER') ? FINER_MODES.get(mode) : undefined
  const accessMode = finer ?? MODES.get(mode) ?? 'SINGLE_NODE_WRITER'
  if (use === 'device') return { accessMode, access: { kind: 'block' } }
  const group = can.has('VOLUME_MOUNT_GROUP') ? fsGroup : undefined
  const mountFlags = [...mountOptions, ...selinuxMountOptions(selinuxLabel)]
  return { accessMode, access: { kind: 'mount', fsType, mountFlags, group } }
}
