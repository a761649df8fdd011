import { isRecord } from '../../base/document/is-record.ts'
import { setKey } from '../../base/document/position-index.ts'
import { resolveSchema } from './merge-schema.ts'
import type { MergeSchema } from './merge-schema.ts'

/**
 * A path from an object to one of its parts. An element is written as in managedFields: "f:name" is a field or key, "k:{…}" an item of a list by its
 * keys, "v:…" an item of a set by its value, "i:1" one by its place.
 */
export type ElementPath = readonly string[]

type FieldsJson = Readonly<Record<string, unknown>>

const SELF = '.'
const KINDS = 'fkvi'

/** Paths of an object: those that are members, and those that only lead to members. */
export class FieldSet {
  readonly #members = new Set<string>()
  readonly #children = new Map<string, FieldSet>()

  static of(...paths: readonly ElementPath[]): FieldSet {
    const set = new FieldSet()
    for (const path of paths) set.insert(path)
    return set
  }

  /** Reads what managedFields have; elements of unknown kinds are left out. */
  static fromJson(json: unknown, toElement: (text: string) => string = (text) => text): FieldSet {
    const set = new FieldSet()
    if (!isRecord(json)) return set
    for (const [text, inner] of Object.entries(json)) {
      if (text[1] !== ':' || !KINDS.includes(text[0] ?? ' ')) continue
      const element = toElement(text)
      const below = isRecord(inner) ? inner : {}
      const child = FieldSet.fromJson(below, toElement)
      if (Object.hasOwn(below, SELF) || child.isEmpty) set.#members.add(element)
      if (!child.isEmpty) set.#children.set(element, child)
    }
    return set
  }

  /** As managedFields have it. */
  toJson(): FieldsJson {
    const json = {}
    for (const element of this.#elements()) {
      const child = this.#children.get(element)
      const below = child?.toJson() ?? {}
      setKey(json, element, child !== undefined && this.#members.has(element) ? { [SELF]: {}, ...below } : below)
    }
    return json
  }

  get isEmpty(): boolean {
    if (this.#members.size > 0) return false
    for (const child of this.#children.values()) if (!child.isEmpty) return false
    return true
  }

  /** Only for a set that is being made. */
  insert(path: ElementPath): void {
    const [first, ...rest] = path
    if (first === undefined) return
    if (rest.length === 0) this.#members.add(first)
    else this.#children.getOrInsertComputed(first, () => new FieldSet()).insert(rest)
  }

  has(path: ElementPath): boolean {
    const [first, ...rest] = path
    if (first === undefined) return false
    return rest.length === 0 ? this.#members.has(first) : this.#children.get(first)?.has(rest) === true
  }

  /** What is below an element. */
  below(element: string): FieldSet | undefined {
    const child = this.#children.get(element)
    return child === undefined || child.isEmpty ? undefined : child
  }

  union(other: FieldSet): FieldSet {
    const result = this.#copy()
    for (const element of other.#members) result.#members.add(element)
    for (const [element, child] of other.#children) {
      const own = this.#children.get(element)
      result.#children.set(element, own === undefined ? child : own.union(child))
    }
    return result
  }

  difference(other: FieldSet): FieldSet {
    return this.#combine(
      other,
      (element) => !other.#members.has(element),
      (own, theirs) => own.difference(theirs),
      true,
    )
  }

  intersection(other: FieldSet): FieldSet {
    return this.#combine(
      other,
      (element) => other.#members.has(element),
      (own, theirs) => own.intersection(theirs),
      false,
    )
  }

  /** Without the members of another set and all that is below them. */
  without(other: FieldSet): FieldSet {
    const result = this.#combine(
      other,
      (element) => !other.#members.has(element),
      (own, theirs) => own.without(theirs),
      true,
    )
    for (const element of other.#members) result.#children.delete(element)
    return result
  }

  /** Only what the patterns lead to; the element "*" stands for every item of a list. */
  onlyBelow(patterns: readonly ElementPath[]): FieldSet {
    const result = new FieldSet()
    for (const element of this.#elements()) {
      const matching = patterns.filter(([first]) => first === element || (first === '*' && element[0] !== 'f'))
      if (matching.length === 0) continue
      const rests = matching.map((pattern) => pattern.slice(1))
      const isWhole = rests.some((rest) => rest.length === 0)
      if (this.#members.has(element)) result.#members.add(element)
      const child = this.#children.get(element)
      if (child !== undefined) result.#children.set(element, isWhole ? child : child.onlyBelow(rests))
    }
    return result.#pruned()
  }

  /** With the declared fields that lead to members as members too: what was owned through its parts can go with the last of them. */
  withNamedFields(schema: MergeSchema): FieldSet {
    const resolved = resolveSchema(schema, undefined)
    const result = new FieldSet()
    for (const element of this.#members) result.#members.add(element)
    for (const [element, child] of this.#children) {
      if (child.isEmpty) continue
      const name = element.startsWith('f:') ? element.slice(2) : undefined
      const declared = resolved.kind === 'map' && name !== undefined ? resolved.fieldOf(name) : undefined
      if (declared !== undefined) result.#members.add(element)
      const below = declared ?? innerSchema(resolved, name)
      result.#children.set(element, below === undefined ? child : child.withNamedFields(below))
    }
    return result
  }

  /** All members, those of a level before those below it. */
  *paths(prefix: ElementPath = []): Generator<ElementPath> {
    for (const element of [...this.#members].toSorted(compareElements)) yield [...prefix, element]
    for (const [element, child] of [...this.#children].toSorted(([a], [b]) => compareElements(a, b))) {
      yield* child.paths([...prefix, element])
    }
  }

  #elements(): readonly string[] {
    const below = [...this.#children].filter(([, child]) => !child.isEmpty).map(([element]) => element)
    return [...new Set([...this.#members, ...below])].toSorted(compareElements)
  }

  #copy(): FieldSet {
    const copy = new FieldSet()
    for (const element of this.#members) copy.#members.add(element)
    for (const [element, child] of this.#children) copy.#children.set(element, child)
    return copy
  }

  #pruned(): FieldSet {
    for (const [element, child] of this.#children) if (child.isEmpty) this.#children.delete(element)
    return this
  }

  #combine(
    other: FieldSet,
    keeps: (element: string) => boolean,
    join: (own: FieldSet, theirs: FieldSet) => FieldSet,
    keepsOthers: boolean,
  ): FieldSet {
    const result = new FieldSet()
    for (const element of this.#members) if (keeps(element)) result.#members.add(element)
    for (const [element, child] of this.#children) {
      const theirs = other.#children.get(element)
      const joined = theirs === undefined ? (keepsOthers ? child : undefined) : join(child, theirs)
      if (joined !== undefined && !joined.isEmpty) result.#children.set(element, joined)
    }
    return result
  }
}

function innerSchema(schema: Exclude<MergeSchema, { kind: 'any' }>, name: string | undefined): MergeSchema | undefined {
  if (schema.kind === 'map' && name !== undefined) return schema.rest
  return schema.kind === 'list' && name === undefined ? schema.items : undefined
}

/** Fields before items by key, by value and by place; each in the order of their texts. */
function compareElements(a: string, b: string): number {
  const kinds = KINDS.indexOf(a[0] ?? ' ') - KINDS.indexOf(b[0] ?? ' ')
  if (kinds !== 0) return kinds
  return a < b ? -1 : a > b ? 1 : 0
}

/** A path as people read it: .spec.containers[name="a"].image */
export function formatPath(path: ElementPath): string {
  return path.map(formatElement).join('')
}

function formatElement(element: string): string {
  const text = element.slice(2)
  switch (element[0]) {
    case 'k': {
      const keys = Object.entries(JSON.parse(text) as Readonly<Record<string, unknown>>)
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`
    }
    case 'v':
      return `[=${text}]`
    case 'i':
      return `[${text}]`
    default:
      return `.${text}`
  }
}
