import type { CriMethod, CriMethods, CriRequest, CriResponse } from './cri-methods.ts'
import type { DeepPartial } from './generated/runtime-v1.ts'

/** The calls of both CRI services: unset fields of a request count as empty, and the signal cancels the call. */
export type CriCalls = {
  readonly [M in CriMethod]: CriMethods[M]['responseStream'] extends true
    ? (request: DeepPartial<CriRequest<M>>, signal: AbortSignal) => AsyncIterable<CriResponse<M>>
    : (request: DeepPartial<CriRequest<M>>, signal: AbortSignal) => Promise<CriResponse<M>>
}
