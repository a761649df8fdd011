/** Why a pod can never have what it was promised: its end, as its status shows it. */
export interface PodEnd {
  readonly reason: string
  readonly message: string
}

/** Something besides its volumes that a pod needs could not be prepared, or not be given back. It is tried again until it works. */
export class InjectionsError extends Error {
  override readonly name = 'InjectionsError'
  readonly end: PodEnd | undefined

  constructor(message: string, options?: ErrorOptions & { readonly end?: PodEnd }) {
    super(message, options)
    this.end = options?.end
  }
}
