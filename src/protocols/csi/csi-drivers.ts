/** The CSI drivers that are registered on this node now. */
export interface CsiDrivers {
  find(name: string): CsiDriver | undefined
}

/**
 * A registered driver. Its calls fail with a CsiCallError, which says whether anything may have come of them; an abort of the signal
 * rejects with the signal's reason.
 */
export interface CsiDriver {
  readonly name: string
  /** What the driver calls this node. */
  readonly nodeId: string
  capabilities(signal: AbortSignal): Promise<ReadonlySet<CsiCapability>>
  stage(request: CsiStageRequest, signal: AbortSignal): Promise<void>
  unstage(request: CsiUnstageRequest, signal: AbortSignal): Promise<void>
  publish(request: CsiPublishRequest, signal: AbortSignal): Promise<void>
  unpublish(request: CsiUnpublishRequest, signal: AbortSignal): Promise<void>
  /** Gives the size that the volume has then, 0 when the driver does not say. */
  expand(request: CsiExpandRequest, signal: AbortSignal): Promise<bigint>
  volumeStats(request: CsiStatsRequest, signal: AbortSignal): Promise<CsiVolumeStats>
}

/** What a driver can do on a node besides publishing. */
export type CsiCapability =
  | 'STAGE_UNSTAGE_VOLUME'
  | 'GET_VOLUME_STATS'
  | 'EXPAND_VOLUME'
  | 'VOLUME_CONDITION'
  | 'SINGLE_NODE_MULTI_WRITER'
  | 'VOLUME_MOUNT_GROUP'

/** Who may use a volume at the same time, and how. */
export type CsiAccessMode =
  | 'SINGLE_NODE_WRITER'
  | 'SINGLE_NODE_READER_ONLY'
  | 'MULTI_NODE_READER_ONLY'
  | 'MULTI_NODE_SINGLE_WRITER'
  | 'MULTI_NODE_MULTI_WRITER'
  | 'SINGLE_NODE_SINGLE_WRITER'
  | 'SINGLE_NODE_MULTI_WRITER'

/** How a volume is to be used: as a device, or as a file system. */
export interface CsiVolumeCapability {
  readonly accessMode: CsiAccessMode
  readonly access:
    | { readonly kind: 'block' }
    | {
        readonly kind: 'mount'
        /** Empty: the driver's own choice. */
        readonly fsType: string
        readonly mountFlags: readonly string[]
        /** The gid that is to own the files, when the driver sees to that. */
        readonly group: number | undefined
      }
}

type Strings = Readonly<Record<string, string>>

interface OfVolume {
  readonly volumeId: string
  /** It is written as an old kind of volume and was translated for the driver; only counted. */
  readonly isMigrated?: boolean | undefined
}

export interface CsiStageRequest extends OfVolume {
  readonly stagingPath: string
  readonly capability: CsiVolumeCapability
  readonly publishContext: Strings
  readonly volumeContext: Strings
  readonly secrets: Strings
}

interface CsiUnstageRequest {
  readonly volumeId: string
  readonly stagingPath: string
}

interface CsiPublishRequest extends OfVolume {
  /** Undefined for a volume that is not staged. */
  readonly stagingPath: string | undefined
  readonly targetPath: string
  readonly capability: CsiVolumeCapability
  readonly readOnly: boolean
  readonly publishContext: Strings
  readonly volumeContext: Strings
  readonly secrets: Strings
}

interface CsiUnpublishRequest {
  readonly volumeId: string
  readonly targetPath: string
}

interface CsiExpandRequest extends OfVolume {
  readonly volumePath: string
  readonly stagingPath: string | undefined
  readonly capability: CsiVolumeCapability
  readonly requiredBytes: bigint
  readonly secrets: Strings
}

interface CsiStatsRequest {
  readonly volumeId: string
  readonly volumePath: string
  readonly stagingPath: string | undefined
}

interface CsiUsage {
  readonly available: number
  readonly total: number
  readonly used: number
}

/** How full a volume is and whether it is well, as far as the driver says. */
export interface CsiVolumeStats {
  readonly bytes: CsiUsage | undefined
  readonly inodes: CsiUsage | undefined
  readonly condition: { readonly abnormal: boolean; readonly message: string } | undefined
}
