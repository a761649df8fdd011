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

// grpc-js announces a note of its resolver also where that has none to give.
const EMPTY_NOTE = /\. Resolution note: $/

/** What gRPC threw, in our words; a code of Unknown also for what is not from gRPC. */
export function toGrpcFailure(error: unknown): { readonly code: GrpcCode; readonly detail: string } {
  const { code, details, message } = error as { code?: unknown; details?: unknown; message?: unknown }
  return {
    code: (typeof code === 'number' ? GRPC_CODES[code] : undefined) ?? 'Unknown',
    detail: (typeof details === 'string' && details !== '' ? details : String(message ?? error)).replace(
      EMPTY_NOTE,
      '',
    ),
  }
}
