import { errorText } from '../../../base/telemetry/error-text.ts'
import { formatManifestProblem, ManifestError } from '../../../model/schema/manifest-error.ts'
import type { ManifestProblem } from '../../../model/schema/manifest-error.ts'

const SHOWN = 10

/** What is wrong with one value of etcd: a list can have thousands of bad pods, and is one thing to report. */
export class ValueProblems {
  readonly #texts: string[] = []
  #isWhole = true
  #line: number | undefined

  get count(): number {
    return this.#texts.length
  }

  /** They are about the value, not about single pods of its list. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Where the first of them is, if that is known. */
  get line(): number | undefined {
    return this.#line
  }

  /** The item is that of a list; empty: the value as a whole. */
  add(item: string, error: unknown): void {
    const problems = error instanceof ManifestError ? error.problems : []
    if (this.#texts.length === 0 && item === '') this.#line = problems[0]?.line
    // An item of a list is read by itself: where something stands in it is not where it stands in the value.
    const texts = problems.map((problem) => (item === '' ? formatManifestProblem(problem) : formatUnlocated(problem)))
    for (const text of problems.length > 0 ? texts : [errorText(error)])
      this.#texts.push(item === '' ? text : `${item}: ${text}`)
    if (item !== '') this.#isWhole = false
  }

  /** The result; undefined, with the problem noted, when there is none. */
  try<T>(item: string, read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      // Whatever goes wrong with one value is no reason to read none of the others.
      this.add(item, error)
      return undefined
    }
  }

  /** The first of them, and how many more there are. */
  toFields(): { readonly reason: readonly string[]; readonly more?: number } {
    const more = this.#texts.length - SHOWN
    return { reason: this.#texts.slice(0, SHOWN), ...(more > 0 && { more }) }
  }

  /** The same as one text. */
  toText(): string {
    const { reason, more = 0 } = this.toFields()
    return `${reason.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
  }
}

function formatUnlocated({ path, rule }: ManifestProblem): string {
  return path === '' ? rule : `${path}: ${rule}`
}
