import type { CsiVolume } from '../csi-volume.ts'

/** Whether the agent gives a published volume to the fsGroup of its pod. Parity: pkg/volume/csi csiMountMgr.supportsFSGroup(). */
export function computeGroupChange(
  { readOnly, fsType, lifecycle, accessModes }: CsiVolume,
  group: {
    readonly fsGroup: number | undefined
    readonly policy: 'ReadWriteOnceWithFSType' | 'File' | 'None'
    /** The driver sees to it itself. */
    readonly byDriver: boolean
  },
): boolean {
  if (group.fsGroup === undefined || group.byDriver || group.policy === 'None' || readOnly) return false
  if (group.policy === 'File') return true
  if (fsType === '') return false
  return lifecycle === 'Ephemeral' || accessModes.includes('ReadWriteOnce') || accessModes.includes('ReadWriteOncePod')
}
