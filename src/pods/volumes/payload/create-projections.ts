import type { TaskGroup } from '../../../base/async/task-group.ts'
import { PodCertificates } from '../../certificates/pod-certificates.ts'
import type { CertificateCount, PodCertificatesDeps } from '../../certificates/pod-certificates.ts'
import type { FeatureGates } from '../../../model/config/gates/feature-gates.ts'
import { TrustBundlesFollower } from '../../../protocols/kube-api/followers/trust-bundles-follower.ts'
import { computeTrustAnchors } from '../../objects/compute-trust-anchors.ts'
import type { VolumeContent } from './volume-content.ts'

/** What projected volumes show besides objects of the pod's namespace; each behind its feature gate. */
export type Projections = Pick<VolumeContent, 'trustAnchors' | 'podCertificate'> & {
  /** The state of each certificate of a pod. */
  certificateStates(): readonly CertificateCount[]
}

export interface ProjectionsDeps extends Omit<PodCertificatesDeps, 'tasks'> {
  readonly gates: FeatureGates
}

/** The sources of projected volumes that a cluster has. Nothing is asked for before a pod wants it. */
export function createProjections(deps: ProjectionsDeps, tasks: TaskGroup): Projections {
  const bundles = new TrustBundlesFollower({ ...deps, tasks })
  const certificates = new PodCertificates({ ...deps, tasks })
  return {
    certificateStates: () => certificates.states(),
    ...(deps.gates.enabled('ClusterTrustBundleProjection') && {
      trustAnchors: async (source, signal) => computeTrustAnchors(await bundles.all(signal), source),
    }),
    ...(deps.gates.enabled('PodCertificateRequest') && {
      podCertificate: (wanted, signal) => certificates.get(wanted, signal),
    }),
  }
}
