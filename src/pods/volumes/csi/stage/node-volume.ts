import type { StagedVolume } from '../../stage/staged-volumes.ts'
import type { StagingPlace } from '../csi-paths.ts'

/** A volume of a CSI driver on this node, whichever pods use it. */
export interface NodeVolume extends StagedVolume, StagingPlace {
  readonly driver: string
  readonly handle: string
  readonly use: 'files' | 'device'
}
