interface Step {
  readonly parent: FieldPath
  readonly segment: string | number
  readonly text: string
}

/** Where in an object a value is; prints as API errors do: spec.containers[0].resources.limits[cpu]. */
export class FieldPath {
  static readonly root = new FieldPath(undefined)
  readonly #step: Step | undefined

  private constructor(step: Step | undefined) {
    this.#step = step
  }

  /** A field of an object. */
  child(name: string): FieldPath {
    return this.#extend(name, this.#step === undefined ? name : `.${name}`)
  }

  /** An item of a list. */
  index(position: number): FieldPath {
    return this.#extend(position, `[${position}]`)
  }

  /** A key of a map, whose keys are the user's own. */
  key(key: string): FieldPath {
    return this.#extend(key, `[${key}]`)
  }

  /** The way from the root, for finding the value in the text. */
  get segments(): readonly (string | number)[] {
    const segments: (string | number)[] = []
    for (let step = this.#step; step !== undefined; step = step.parent.#step) segments.unshift(step.segment)
    return segments
  }

  toString(): string {
    let text = ''
    for (let step = this.#step; step !== undefined; step = step.parent.#step) text = step.text + text
    return text
  }

  #extend(segment: string | number, text: string): FieldPath {
    return new FieldPath({ parent: this, segment, text })
  }
}
