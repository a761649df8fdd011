import { status } from '@grpc/grpc-js'

/** An error as a runtime sends it. */
export class FakeCriError extends Error {
  override readonly name = 'FakeCriError'
  readonly code: number
  readonly details: string

  constructor(code: keyof typeof status, details: string) {
    super(details)
    this.code = status[code]
    this.details = details
  }
}
