/** One thing that is wrong with a manifest, and where. */
export interface ManifestProblem {
  /** As in "spec.containers[0].image"; empty when it is about the text as a whole. */
  readonly path: string
  /** What stands there, where a value is the trouble. */
  readonly value?: unknown
  /** What is wrong, in the words of the API: "Required value", `Invalid value: "x": must …`. */
  readonly rule: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

/** A manifest cannot be used; carries everything that is wrong with it at once. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  readonly problems: readonly ManifestProblem[]

  constructor(problems: readonly ManifestProblem[]) {
    super(`Cannot use the manifest: ${problems.map(formatManifestProblem).join('; ')}`)
    this.problems = problems
  }
}

/** "3:5 spec.containers[0].image: Required value": one problem as a person reads it. */
export function formatManifestProblem({ path, rule, line, column }: ManifestProblem): string {
  return `${line}:${column} ${path === '' ? '' : `${path}: `}${rule}`
}
