import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import { invalid } from '../api-error.ts'
import type { ApiRequest } from './api-request.ts'
import type { RequestInfo } from './request-info.ts'

const MAX_MANAGER_BYTES = 128
// Letters, marks, numbers, punctuation, symbols and the plain space are printable.
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

/** Who owns what a request changes: the name that it gives, else that of the program which sends it. */
export function fieldManagerOf({ headers }: ApiRequest, query: URLSearchParams): string {
  const given = query.get('fieldManager')
  if (given) return given
  const [program = ''] = (headers['user-agent'] ?? '').split('/')
  return cutToBytes(program.replaceAll(UNPRINTABLE, ''), MAX_MANAGER_BYTES) || 'unknown'
}

function cutToBytes(text: string, limit: number): string {
  let bytes = 0
  let length = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > limit) break
    length += character.length
  }
  return text.slice(0, length)
}

const OPTIONS: Readonly<Record<string, string>> = { POST: 'CreateOptions', PUT: 'UpdateOptions', PATCH: 'PatchOptions' }

/** Throws when the options of a write are none: who owns the fields, and for an apply whether it takes them from others. */
export function checkWriteOptions(
  { request, info }: { readonly request: ApiRequest; readonly info: RequestInfo },
  isApply = false,
): void {
  const problems = new ProblemList()
  const manager = info.query.get('fieldManager') ?? ''
  const path = FieldPath.root.child('fieldManager')
  if (isApply && manager === '') problems.required(path, 'is required for apply patch')
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) {
    problems.tooLong(path, MAX_MANAGER_BYTES)
  }
  const position = manager.search(UNPRINTABLE)
  if (position >= 0) {
    const code = (manager.codePointAt(position) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    problems.invalid(path, manager, `invalid character U+${code} (at position ${position})`)
  }
  if (!isApply && request.method === 'PATCH' && info.query.get('force')) {
    problems.forbidden(FieldPath.root.child('force'), 'may not be specified for non-apply patch')
  }
  if (problems.violations.length === 0) return
  const kind = OPTIONS[request.method] ?? 'PatchOptions'
  throw invalid({ group: 'meta.k8s.io', kind, name: '' }, problems.violations)
}
