/** Why a pod that was admitted can never have what it was promised. It ends with that, and its status shows it as rejected. */
export interface LateRejection {
  readonly reason: string
  readonly message: string
}

/** Something besides its volumes that a pod needs could not be prepared, or not be given back. It is tried again until it works. */
export class InjectionsError extends Error {
  override readonly name = 'InjectionsError'
  readonly end: LateRejection | undefined

  constructor(message: string, options?: ErrorOptions & { readonly end?: LateRejection }) {
    super(message, options)
    this.end = options?.end
  }
}
