import { toGrpcStatus } from '../../protocols/grpc/grpc-code.ts'
import type { GrpcCode } from '../../protocols/grpc/grpc-code.ts'

/** An error as a runtime sends it. */
export class SimulatedFault extends Error {
  override readonly name = 'SimulatedFault'
  /** gRPC's number. */
  readonly code: number
  readonly details: string

  constructor(code: GrpcCode, details: string) {
    super(details)
    this.code = toGrpcStatus(code)
    this.details = details
  }
}
