/** A refusal of ours with a code like those of the system, so that callers check one thing only. */
export class GuardedError extends Error {
  override readonly name = 'GuardedError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
