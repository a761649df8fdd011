/** A CertificateSigningRequest, as far as its sender reads it. */
export interface SigningRequestObject {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** The PKCS#10 request in PEM form. */
  readonly request: string
  readonly outcome: SigningOutcome
}

type SigningOutcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'issued'; readonly certificatePem: string }
  | { readonly kind: 'rejected'; readonly how: 'was denied' | 'failed'; readonly message: string }

interface Raw {
  readonly metadata?: { readonly name?: unknown; readonly uid?: unknown; readonly resourceVersion?: unknown }
  readonly spec?: { readonly request?: unknown }
  readonly status?: {
    readonly certificate?: unknown
    readonly conditions?: readonly { readonly type?: unknown; readonly reason?: unknown; readonly message?: unknown }[]
  }
}

/** Parses a signing request from the API server; missing fields become empty. */
export function parseSigningRequestObject(value: unknown): SigningRequestObject {
  const { metadata = {}, spec = {}, status = {} } = (value ?? {}) as Raw
  const text = (field: unknown) => (typeof field === 'string' ? field : '')
  const decode = (field: unknown) => Buffer.from(text(field), 'base64').toString('utf8')
  return {
    name: text(metadata.name),
    uid: text(metadata.uid),
    resourceVersion: text(metadata.resourceVersion),
    request: decode(spec.request),
    outcome: toOutcome(status, decode(status.certificate)),
  }

  function toOutcome({ conditions = [] }: NonNullable<Raw['status']>, certificatePem: string): SigningOutcome {
    const find = (type: string) => conditions.find((condition) => condition.type === type)
    const rejection = find('Denied') ?? find('Failed')
    if (rejection !== undefined) {
      const how = rejection.type === 'Denied' ? 'was denied' : 'failed'
      return { kind: 'rejected', how, message: `${text(rejection.reason)}: ${text(rejection.message)}` }
    }
    if (find('Approved') === undefined || certificatePem === '') return { kind: 'pending' }
    return { kind: 'issued', certificatePem }
  }
}
