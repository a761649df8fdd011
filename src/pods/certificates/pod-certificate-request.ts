import type { ObjectMeta, PodCertificateProjection } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { PodKey } from './create-pod-key.ts'

/** A podCertificate source of a volume of a pod. */
export interface WantedPodCertificate {
  readonly pod: Pod
  readonly volume: string
  /** Of the source in the volume. */
  readonly index: number
  readonly source: PodCertificateProjection
}

/** What a node needs of a PodCertificateRequest (certificates.k8s.io/v1beta1). */
export interface PodCertificateRequest {
  readonly metadata?: ObjectMeta | undefined
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
    }[]
    readonly certificateChain?: string
    readonly beginRefreshAt?: string
    readonly notAfter?: string
  }
}

/** What became of a request. */
export type RequestOutcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'issued'; readonly chain: string; readonly beginRefreshAt: number; readonly notAfter: number }
  | { readonly kind: 'Denied' | 'Failed'; readonly reason: string; readonly message: string }

/** Reads what the signer did with a request; what makes no sense is not done yet. */
export function toRequestOutcome({ status = {} }: PodCertificateRequest): RequestOutcome {
  const { conditions = [], certificateChain: chain = '', beginRefreshAt = '', notAfter = '' } = status
  for (const { type, status: value, reason = '', message = '' } of conditions) {
    if (value !== 'True') continue
    if (type === 'Denied' || type === 'Failed') return { kind: type, reason, message }
    const times = { beginRefreshAt: Date.parse(beginRefreshAt), notAfter: Date.parse(notAfter) }
    const isWhole = chain !== '' && !Number.isNaN(times.beginRefreshAt) && !Number.isNaN(times.notAfter)
    if (type === 'Issued' && isWhole) return { kind: 'issued', chain, ...times }
  }
  return { kind: 'pending' }
}

/** The request of a node for a certificate of one of its pods. */
export function toRequestObject(
  { pod, source }: WantedPodCertificate,
  { stubRequest }: Pick<PodKey, 'stubRequest'>,
  ids: {
    readonly nodeName: string
    readonly nodeUid: string
    readonly accountName: string
    readonly accountUid: string
  },
): object {
  const { namespace, name, uid } = pod.metadata
  const { signerName, maxExpirationSeconds, userAnnotations } = source
  return {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'PodCertificateRequest',
    metadata: { generateName: 'req-', namespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] },
    spec: {
      signerName,
      podName: name,
      podUID: uid,
      serviceAccountName: ids.accountName,
      serviceAccountUID: ids.accountUid,
      nodeName: ids.nodeName,
      nodeUID: ids.nodeUid,
      ...(maxExpirationSeconds !== undefined && { maxExpirationSeconds }),
      stubPKCS10Request: stubRequest,
      ...(userAnnotations !== undefined && { unverifiedUserAnnotations: userAnnotations }),
    },
  }
}
