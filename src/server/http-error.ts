/** An answer that is not the one the client hoped for: its status, and the text that says why. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    message: string,
    options: ErrorOptions & { readonly headers?: Record<string, string> } = {},
  ) {
    super(message, options)
    this.status = status
    this.headers = options.headers ?? {}
  }
}
