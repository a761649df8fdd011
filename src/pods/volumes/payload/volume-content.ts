import type { ClusterTrustBundleProjection, PodCertificateProjection } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { PodObjects } from '../../objects/pod-objects.ts'

/** The objects that volumes show. Failures are ObjectErrors. */
export interface VolumeContent extends Pick<PodObjects, 'configMap' | 'secret' | 'token'> {
  /** The certificates that a source names, in PEM form; empty when there are none. Undefined where the feature gate is off. */
  readonly trustAnchors?: (source: ClusterTrustBundleProjection, signal: AbortSignal) => Promise<string>
  /** The same for a certificate of the pod's own. */
  readonly podCertificate?: (
    wanted: {
      readonly pod: Pod
      readonly volume: string
      readonly index: number
      readonly source: PodCertificateProjection
    },
    signal: AbortSignal,
  ) => Promise<{ readonly keyPem: string; readonly chainPem: string }>
}
