import type { FileProblem } from '../node/file-problems.ts'

/** Says what is wrong with something once, and again only when it is something else; knows all that is wrong at the moment. */
export class Reporter {
  readonly #say: (line: string) => void
  readonly #reported = new Map<string, { readonly message: string; readonly problem: FileProblem }>()

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  report(about: string, message: string, problem: FileProblem): void {
    if (this.#reported.get(about)?.message === message) return
    this.#reported.set(about, { message, problem })
    this.#say(message)
  }

  /** All is well with it. */
  clear(about: string): void {
    this.#reported.delete(about)
  }

  /** Forgets what is not among these any more. */
  retain(isThere: (about: string) => boolean): void {
    for (const about of this.#reported.keys()) if (!isThere(about)) this.#reported.delete(about)
  }

  problems(): readonly FileProblem[] {
    return [...this.#reported.values()].map(({ problem }) => problem)
  }
}
