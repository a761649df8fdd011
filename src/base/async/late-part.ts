/** A part that is made when it is first needed, once for all. Others may ask what there is of it, without making it. */
export class LatePart<T> {
  readonly #create: () => Promise<T>
  #opening: Promise<T> | undefined
  #value: T | undefined

  constructor(create: () => Promise<T>) {
    this.#create = create
  }

  /** Undefined until it is there. */
  get value(): T | undefined {
    return this.#value
  }

  async open(): Promise<T> {
    return await (this.#opening ??= this.#open())
  }

  async #open(): Promise<T> {
    try {
      return (this.#value = await this.#create())
    } catch (error) {
      // The next caller tries again.
      this.#opening = undefined
      throw error
    }
  }
}
