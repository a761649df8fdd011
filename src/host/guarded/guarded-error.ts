/** A refusal of ours with a code like those of the system, so that callers need only look at one thing. */
export class GuardedError extends Error {
  override readonly name = 'GuardedError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** True for an error with one of the codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return Error.isError(error) && 'code' in error && codes.some((code) => code === error.code)
}
