import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import { badRequest, invalid } from '../api-error.ts'
import { isTrue } from '../rest/request-info.ts'

const FLAGS = ['follow', 'previous', 'timestamps']
const STREAMS = ['All', 'Stderr', 'Stdout']
// Each with the smallest value that it may have.
const NUMBERS: Readonly<Record<string, number>> = { sinceSeconds: 1, tailLines: 0, limitBytes: 1 }

/** The part of a log's query that is passed on to the kubelet. Throws an ApiError for values that cannot be. */
export function toLogQuery(asked: URLSearchParams, podName: string): URLSearchParams {
  const query = new URLSearchParams()
  for (const flag of FLAGS) if (isTrue(asked.get(flag))) query.set(flag, 'true')
  const problems = new ProblemList()
  for (const [name, least] of Object.entries(NUMBERS)) {
    const value = readInteger(asked, name)
    if (value === undefined) continue
    if (value < least) problems.invalid(FieldPath.root.child(name), value, `must be at least ${least}`)
    query.set(name, String(value))
  }
  readTime(asked, query)
  if (query.has('sinceSeconds') && query.has('sinceTime')) {
    problems.forbidden(FieldPath.root, 'at most one of `sinceTime` or `sinceSeconds` may be specified')
  }
  const stream = asked.get('stream') ?? 'All'
  problems.oneOf(FieldPath.root.child('stream'), stream, STREAMS)
  if (stream !== 'All' && query.has('tailLines')) {
    problems.forbidden(FieldPath.root.child('tailLines'), 'cannot be used together with stream')
  }
  if (stream !== 'All') query.set('stream', stream)
  if (problems.violations.length > 0) {
    throw invalid({ group: '', kind: 'PodLogOptions', name: podName }, problems.violations)
  }
  return query
}

function readInteger(asked: URLSearchParams, name: string): number | undefined {
  const text = asked.get(name)
  if (text === null || text === '') return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw badRequest(`invalid value for "${name}": ${JSON.stringify(text.slice(0, 50))}: expected a whole number`)
}

function readTime(asked: URLSearchParams, query: URLSearchParams): void {
  const text = asked.get('sinceTime')
  if (text === null || text === '') return
  if (Number.isNaN(Date.parse(text)) || !/^\d{4}-\d\d-\d\dT/.test(text)) {
    throw badRequest(`invalid value for "sinceTime": ${JSON.stringify(text.slice(0, 50))}: expected an RFC 3339 time`)
  }
  query.set('sinceTime', text)
}
