import type { CsiCapability, CsiVolumeCapability, CsiVolumeStats } from './csi-drivers.ts'
import {
  NodeServiceCapability_RPC_Type,
  VolumeCapability_AccessMode_Mode,
  VolumeUsage_Unit,
} from './generated/csi-v1.ts'
import type {
  NodeGetCapabilitiesResponse,
  NodeGetVolumeStatsResponse,
  VolumeCapability,
  VolumeUsage,
} from './generated/csi-v1.ts'

export function toVolumeCapability({ accessMode, access }: CsiVolumeCapability): VolumeCapability {
  const mode = { accessMode: { mode: VolumeCapability_AccessMode_Mode[accessMode] } }
  if (access.kind === 'block') return { ...mode, block: {} }
  const { fsType, mountFlags, group } = access
  return { ...mode, mount: { fsType, mountFlags, volumeMountGroup: group === undefined ? '' : String(group) } }
}

const CAPABILITIES: ReadonlyMap<number, CsiCapability> = new Map(
  Object.entries(NodeServiceCapability_RPC_Type).flatMap(([name, value]) =>
    name === 'UNKNOWN' ? [] : [[value, name as CsiCapability] as const],
  ),
)

/** What a newer driver can do besides is nothing to us. */
export function toCapabilities({ capabilities }: NodeGetCapabilitiesResponse): ReadonlySet<CsiCapability> {
  return new Set(capabilities.flatMap(({ rpc }) => CAPABILITIES.get(rpc?.type ?? 0) ?? []))
}

export function toVolumeStats({ usage, volumeCondition }: NodeGetVolumeStatsResponse): CsiVolumeStats {
  const usageIn = (unit: number) => {
    const found = usage.findLast((candidate) => candidate.unit === unit)
    return found && toUsage(found)
  }
  return {
    bytes: usageIn(VolumeUsage_Unit.BYTES),
    inodes: usageIn(VolumeUsage_Unit.INODES),
    condition: volumeCondition,
  }
}

function toUsage({ available, total, used }: VolumeUsage): NonNullable<CsiVolumeStats['bytes']> {
  return { available: Number(available), total: Number(total), used: Number(used) }
}
