/** What is asked of the logs of the machine. */
export type NodeLogQuery =
  /** No question: files are shown as they are. */
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly status: 400 | 406; readonly why: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'services'; readonly services: readonly string[]; readonly options: NodeLogOptions }

export interface NodeLogOptions {
  readonly sinceTime?: Date
  readonly untilTime?: Date
  readonly tailLines?: number
  readonly pattern?: string
  readonly boot?: number
}

const OPTIONS = ['sinceTime', 'untilTime', 'tailLines', 'pattern', 'boot'] as const
const MAX_SERVICES = 4
const MAX_LINES = 100_000
const SERVICE_NAME = /^[a-zA-Z0-9_.:@-]{1,256}$/
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const INTEGER = /^-?\d{1,9}$/
// Perl's way to set flags for the whole pattern, which JavaScript lacks.
const LEADING_FLAGS = /^\(\?[a-z]+\)/

class QueryError extends Error {
  readonly status: 400 | 406
  constructor(status: 400 | 406, message: string) {
    super(message)
    this.status = status
  }
}

/** Reads the query of /logs/: 400 for what cannot be read, 406 for what cannot be meant. */
export function parseNodeLogQuery(query: URLSearchParams): NodeLogQuery {
  if (!query.has('query') && !OPTIONS.some((name) => query.has(name))) return { kind: 'none' }
  try {
    const options = parseOptions(query)
    checkOptions(options)
    return toQuestion(query.getAll('query'), options)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return { kind: 'refused', status: error.status, why: error.message }
  }
}

function parseOptions(query: URLSearchParams): NodeLogOptions {
  const read = <T>(name: (typeof OPTIONS)[number], parse: (text: string) => T | undefined): { [key: string]: T } => {
    const texts = query.getAll(name)
    const [text] = texts
    if (text === undefined) return {}
    const value = texts.length > 1 ? undefined : parse(text)
    if (value === undefined) throw new QueryError(400, `${name}: cannot read "${texts.join(', ')}"`)
    return { [name]: value }
  }
  const toDate = (text: string) => (RFC3339.test(text) ? new Date(text) : undefined)
  const toInteger = (text: string) => (INTEGER.test(text) ? Number(text) : undefined)
  return {
    ...read('sinceTime', toDate),
    ...read('untilTime', toDate),
    ...read('tailLines', toInteger),
    ...read('pattern', (text) => text),
    ...read('boot', toInteger),
  }
}

function checkOptions({ sinceTime, untilTime, tailLines, pattern, boot }: NodeLogOptions): void {
  const check = (isGood: boolean, rule: string) => {
    if (!isGood) throw new QueryError(406, rule)
  }
  if (sinceTime !== undefined && untilTime !== undefined)
    check(sinceTime.getTime() <= untilTime.getTime(), 'untilTime: expected a time after sinceTime')
  if (tailLines !== undefined) check(tailLines >= 0 && tailLines <= MAX_LINES, `tailLines: expected 0 to ${MAX_LINES}`)
  if (boot !== undefined) check(boot <= 0, 'boot: expected 0 or less')
  if (pattern !== undefined) check(isPattern(pattern), 'pattern: expected a regular expression')
}

function toQuestion(names: readonly string[], options: NodeLogOptions): NodeLogQuery {
  const check = (isGood: boolean, rule: string) => {
    if (!isGood) throw new QueryError(406, rule)
  }
  check(names.length > 0, 'query: expected the name of a service or file')
  check(
    names.every((name) => name.trim() !== ''),
    'query: expected a name that is not blank',
  )
  const file = names.find((name) => /[/\\]/.test(name))
  if (file === undefined) {
    check(names.length <= MAX_SERVICES, `query: expected at most ${MAX_SERVICES} services`)
    check(
      names.every((name) => SERVICE_NAME.test(name)),
      'query: expected names of letters, digits and any of -_.:@',
    )
    return { kind: 'services', services: names, options }
  }
  check(names.length === 1, 'query: expected one file, or services only')
  check(Object.keys(options).length === 0, 'query: expected no option besides a file')
  return { kind: 'file', path: file.replace(/^\/+/, '') }
}

/** The agent never runs it: journalctl does, under a deadline. */
function isPattern(text: string): boolean {
  try {
    return new RegExp(text.replace(LEADING_FLAGS, ''), 'v') instanceof RegExp
  } catch {
    try {
      return new RegExp(text.replace(LEADING_FLAGS, '')) instanceof RegExp
    } catch {
      return false
    }
  }
}
