import type { DocumentValue, DuplicateKey, Segments } from './document-value.ts'

/** Remembers at which offset each member of the objects and lists of a text stands, and which keys came twice. */
export class PositionIndex {
  readonly #members = new WeakMap<object, Map<string | number, number>>()

  readonly duplicates: DuplicateKey[] = []
  readonly #path: (string | number)[] = []

  /** Reads the value of a member while it is known where it belongs. */
  within<T>(segment: string | number, read: () => T): T {
    this.#path.push(segment)
    const value = read()
    this.#path.pop()
    return value
  }

  /** The object being read has this key already. */
  noteDuplicate(key: string, offset: number): void {
    this.duplicates.push({ segments: [...this.#path, key], offset })
  }

  /** Names the offsets of an object or list, once it is complete. */
  record(container: object, offsets: Map<string | number, number>): void {
    this.#members.set(container, offsets)
  }

  /** The offset at the end of a path; as far as the path exists. */
  find(root: DocumentValue, segments: Segments, start: number): number {
    let offset = start
    let value = root
    for (const segment of segments) {
      if (typeof value !== 'object' || value === null) return offset
      const found = this.#members.get(value)?.get(segment)
      if (found === undefined) return offset
      offset = found
      value = (value as Readonly<Record<string | number, DocumentValue>>)[segment] ?? null
    }
    return offset
  }
}

/** Sets a key whatever it is called: "__proto__" is a key like any other. */
export function setKey(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}
