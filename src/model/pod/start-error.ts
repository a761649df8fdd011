/** A container that could not be started: the reason and the message are what its status shows. */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
