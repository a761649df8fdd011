/** What a TokenRequest asks for. */
export interface TokenRequestSpec {
  readonly audiences?: readonly string[]
  readonly expirationSeconds?: number
  readonly boundObjectRef?: {
    readonly kind?: string
    readonly apiVersion?: string
    readonly name?: string
    readonly uid?: string
  }
}
