/** Says what is wrong with something once, and again only when it is something else. */
export class Teller {
  readonly #say: (line: string) => void
  readonly #told = new Map<string, string>()

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  /** An empty message: all is well. */
  tell(about: string, message: string): void {
    if (message === '') this.#told.delete(about)
    else if (this.#told.get(about) !== message) {
      this.#told.set(about, message)
      this.#say(message)
    }
  }
}
