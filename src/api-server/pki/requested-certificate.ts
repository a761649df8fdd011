/** What a certificate request says, as far as the kubelet's signers look at it. */
export interface RequestedCertificate {
  /** Undefined unless there is exactly one. */
  readonly commonName: string | undefined
  readonly organizations: readonly string[]
  /** DNS names and addresses, each in its normal form. */
  readonly dnsNames: readonly string[]
  readonly addresses: readonly string[]
  /** Names of kinds that no certificate of a kubelet has, such as e-mail addresses. */
  readonly otherNames: readonly string[]
}
