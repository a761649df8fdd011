/** One thing wrong with the configuration: where, what was there, and the rule it breaks. */
export interface ConfigProblem {
  readonly path: string
  readonly value: unknown
  readonly rule: string
  /** The file and line, or the flag, that set it, where it is not in the rule. */
  readonly where?: string | undefined
}

// Long values (a certificate pasted into a path) would bury the rule.
const LONGEST_VALUE = 120

function formatValue(value: unknown): string {
  const text = JSON.stringify(value instanceof Map ? Object.fromEntries(value) : value, (_, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part,
  )
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}

/** One problem as a line. */
export function formatProblem({ path, value, rule, where }: ConfigProblem): string {
  const shown = value === undefined ? '' : `${formatValue(value)}: `
  return `${path}: ${shown}${rule}${where === undefined ? '' : ` (${where})`}`
}

/** The configuration cannot be used; carries every problem found, not only the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[], options?: ErrorOptions) {
    super(`Cannot use the configuration: ${problems.map(formatProblem).join('; ')}`, options)
    this.problems = problems
  }
}

/** The command line cannot be used; each problem is a sentence that names its flag. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Cannot use the command line: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/** The text for the terminal: a heading, then one problem a line. */
export function formatConfigError(error: ConfigError | FlagError): string {
  if (error instanceof FlagError) return ['Cannot use the command line:', ...error.problems].join('\n  ')
  return ['Cannot use the configuration:', ...error.problems.map(formatProblem)].join('\n  ')
}
