import type { IncomingMessage } from 'node:http'
import type { Answer } from './send-answer.ts'
import type { Caller } from './route.ts'

/** Whether a request may go on: who asks, or what to answer instead. */
export type AccessDecision =
  | { readonly caller: Caller; readonly refusal?: undefined }
  | { readonly caller?: Caller | undefined; readonly refusal: Answer }

/** Decides about a request. The path has no query, and its parts are decoded. */
export type AccessCheck = (request: IncomingMessage, path: string, signal: AbortSignal) => Promise<AccessDecision>

/** A client without credentials where none are needed. */
export const ANONYMOUS_CALLER: Caller = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** Allows every client: for the ports that ask for no credentials. */
export const allowAll: AccessCheck = () => Promise.resolve({ caller: ANONYMOUS_CALLER })
