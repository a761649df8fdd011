import type { Caller } from '../http/route.ts'

/** What became of one kind of credentials. */
export type CredentialResult =
  | { readonly kind: 'absent' }
  /** There were some, and they are not good: a mistake does not make a client anonymous. */
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'valid'; readonly caller: Caller }

export const ABSENT: CredentialResult = { kind: 'absent' }

export function invalidCredential(why: string): CredentialResult {
  return { kind: 'invalid', why }
}

/** The group of all callers with good credentials. */
export const AUTHENTICATED_GROUP = 'system:authenticated'

export function validCredential(caller: Caller): CredentialResult {
  return { kind: 'valid', caller: { ...caller, groups: [...new Set([...caller.groups, AUTHENTICATED_GROUP])] } }
}
