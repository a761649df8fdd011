// In the order of gRPC's numbers.
const GRPC_CODES = [
  'Ok',
  'Cancelled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

/** How a call ended, by the name that gRPC has for it. */
export type GrpcCode = (typeof GRPC_CODES)[number]

/** The name of a number; Unknown for what gRPC does not have. */
export function toGrpcCode(status: unknown): GrpcCode {
  return (typeof status === 'number' ? GRPC_CODES[status] : undefined) ?? 'Unknown'
}

/** The number of a name, as it goes over the wire. */
export function toGrpcStatus(code: GrpcCode): number {
  return GRPC_CODES.indexOf(code)
}
