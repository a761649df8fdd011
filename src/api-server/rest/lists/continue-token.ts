import { badRequest } from '../../api-error.ts'

/** Where a list that was cut goes on. */
export interface ContinueToken {
  /** The version that the whole list is of; undefined: of whatever is newest, since the old one is forgotten. */
  readonly version: number | undefined
  readonly namespace: string
  readonly name: string
}

export function formatContinueToken({ version, namespace, name }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version ?? -1, start: [namespace, name] })).toString(
    'base64url',
  )
}

export function parseContinueToken(text: string): ContinueToken {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as {
      v: unknown
      rv: unknown
      start: unknown
    }
    const [namespace, name] = Array.isArray(start) ? (start as unknown[]) : []
    if (
      v === 'meta.k8s.io/v1' &&
      Number.isSafeInteger(rv) &&
      typeof namespace === 'string' &&
      typeof name === 'string'
    ) {
      return { version: Number(rv) < 0 ? undefined : Number(rv), namespace, name }
    }
  } catch {
    // Rejected below, whatever is wrong with it.
  }
  throw badRequest('continue key is not valid: expected the one of the previous part of the list')
}
