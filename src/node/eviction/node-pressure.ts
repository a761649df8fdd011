import type { Pressures } from '../../pods/admission/compute-pressure-rejection.ts'

/** What the node is short of, for all parts that ask; a listener hears of changes. */
export class NodePressure {
  readonly #onChange: () => void
  #current: Pressures = { memory: false, disk: false, pid: false }

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get current(): Pressures {
    return this.#current
  }

  /** True when it was a change. */
  set(pressures: Pressures): boolean {
    const { memory, disk, pid } = this.#current
    if (pressures.memory === memory && pressures.disk === disk && pressures.pid === pid) return false
    this.#current = pressures
    this.#onChange()
    return true
  }
}
