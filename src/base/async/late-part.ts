/** A part that is made when it is first needed, once for all. Others may ask what there is of it, without making it. */
export class LatePart<T> {
  readonly #create: () => Promise<T>
  #opening: Promise<T> | undefined
  #opened: T | undefined

  constructor(create: () => Promise<T>) {
    this.#create = create
  }

  /** Undefined until it is there. */
  get opened(): T | undefined {
    return this.#opened
  }

  async open(): Promise<T> {
    return await (this.#opening ??= this.#open())
  }

  async #open(): Promise<T> {
    try {
      return (this.#opened = await this.#create())
    } catch (error) {
      // The next caller tries again.
      this.#opening = undefined
      throw error
    }
  }
}
