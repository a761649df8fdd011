/** The subject of a certificate. */
export interface WantedCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly dnsNames: readonly string[]
  /** In their normal form. */
  readonly addresses: readonly string[]
}

/** The signer, and what its certificates are good for. */
export interface Signer {
  readonly name: string
  readonly usages: readonly string[]
}

export const CLIENT_SIGNER: Signer = {
  name: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
}

export const SERVING_SIGNER: Signer = {
  name: 'kubernetes.io/kubelet-serving',
  usages: ['digital signature', 'server auth'],
}

/** The identity of a node; the API server knows it by these two. */
export function wantedForNode(nodeName: string): WantedCertificate {
  return {
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
    dnsNames: [],
    addresses: [],
  }
}
