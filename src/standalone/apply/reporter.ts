/** Says what is wrong with something once, and again only when it is something else. */
export class Reporter {
  readonly #say: (line: string) => void
  readonly #reported = new Map<string, string>()

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  /** An empty message: all is well. */
  report(about: string, message: string): void {
    if (message === '') this.#reported.delete(about)
    else if (this.#reported.get(about) !== message) {
      this.#reported.set(about, message)
      this.#say(message)
    }
  }
}
