import type { NodePressures } from '../../model/resources/fit/node-pressures.ts'

/** What the node is short of, for all parts that ask; changes are reported. */
export class NodePressure {
  readonly #onChange: () => void
  #current: NodePressures = { memory: false, disk: false, pid: false }

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get current(): NodePressures {
    return this.#current
  }

  /** True when it was a change. */
  set(pressures: NodePressures): boolean {
    const { memory, disk, pid } = this.#current
    if (pressures.memory === memory && pressures.disk === disk && pressures.pid === pid) return false
    this.#current = pressures
    this.#onChange()
    return true
  }
}
