/** What is known of a certificate in use, as far as it decides about its end. Times in milliseconds since the epoch. */
export interface OwnCertificateInfo {
  readonly notBefore: number
  readonly notAfter: number
  readonly isOfAuthority: boolean
  readonly names: readonly string[]
}

// A client that is off for four months of the year still has a good certificate.
const LEFT_SHARE = 1 / 3

/** Why a certificate has to be replaced; undefined while it is good. */
export function computeCertificateDue(
  info: OwnCertificateInfo,
  wantedNames: readonly string[],
  now: number,
): string | undefined {
  if (!info.isOfAuthority) return 'another authority signed it'
  if (now < info.notBefore) return 'it is not valid yet'
  if (now >= info.notAfter) return 'it has expired'
  if (info.notAfter - now < (info.notAfter - info.notBefore) * LEFT_SHARE) return 'it expires soon'
  const names = new Set(info.names)
  if (names.size !== wantedNames.length || wantedNames.some((name) => !names.has(name))) return 'it is for other names'
  return undefined
}
