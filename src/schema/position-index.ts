import type { ManifestValue } from './manifest-value.ts'

/** Remembers at which offset each member of the objects and lists of a manifest stands. */
export class PositionIndex {
  readonly #members = new WeakMap<object, Map<string | number, number>>()

  /** Names the offsets of an object or list, once it is complete. */
  record(container: object, offsets: Map<string | number, number>): void {
    this.#members.set(container, offsets)
  }

  /** The offset at the end of a path; as far as the path exists. */
  find(root: ManifestValue, segments: readonly (string | number)[], start: number): number {
    let offset = start
    let value = root
    for (const segment of segments) {
      if (typeof value !== 'object' || value === null) return offset
      const found = this.#members.get(value)?.get(segment)
      if (found === undefined) return offset
      offset = found
      value = (value as Readonly<Record<string | number, ManifestValue>>)[segment] ?? null
    }
    return offset
  }
}

/** Sets a key whatever it is called: "__proto__" is a key like any other. */
export function setKey(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}
