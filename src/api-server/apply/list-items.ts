import { formatExactJson, parseExactJson } from '../../base/document/exact-json.ts'
import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import type { ListSchema } from './merge-schema.ts'

/** An item of a list without a key of its own. */
export class ItemProblem extends Error {
  override readonly name = 'ItemProblem'
}

/** The element that stands for an item of a list whose items have owners of their own. Throws ItemProblem. */
export function elementOf(schema: ListSchema, item: DocumentValue): string {
  return schema.relation === 'set' ? elementOfValue(item) : elementOfKeys(schema, item)
}

function elementOfValue(item: DocumentValue): string {
  if (isRecord(item)) throw new ItemProblem("associative list without keys has an element that's a map type")
  if (Array.isArray(item)) throw new ItemProblem('not supported: associative list with lists as elements')
  if (item === null) throw new ItemProblem("associative list without keys has an element that's an explicit null")
  return `v:${formatElement(item)}`
}

function elementOfKeys({ keys, defaultOf }: ListSchema, item: DocumentValue): string {
  if (item === null) throw new ItemProblem('associative list with keys may not have a null element')
  if (!isRecord(item)) throw new ItemProblem('associative list with keys may not have non-map elements')
  const found = keys
    .map((key) => [key, Object.hasOwn(item, key) ? item[key] : defaultOf(key)] as const)
    .filter(([, value]) => value !== undefined)
  if (found.length === 0) {
    const names = keys.map((key) => JSON.stringify(key)).join(' ')
    throw new ItemProblem(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    )
  }
  return `k:${formatElement(Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1))))}`
}

/** JSON as the API writes it in these places: without the characters that mean something in HTML. */
function formatElement(value: unknown): string {
  return formatExactJson(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** An element as a client may have written it, as it is written here. */
export function normalizeElement(element: string): string {
  if (!element.startsWith('k:') && !element.startsWith('v:')) return element
  try {
    const value = parseExactJson(element.slice(2))
    const entries = isRecord(value) ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : undefined
    return `${element.slice(0, 2)}${formatElement(entries === undefined ? value : Object.fromEntries(entries))}`
  } catch {
    // No JSON: it stands for nothing, and stays as it is.
    return element
  }
}

/** Items by their elements, in the order of the list; one that is there several times has several. */
export function indexItems(
  schema: ListSchema,
  list: readonly DocumentValue[],
): ReadonlyMap<string, readonly DocumentValue[]> {
  return Map.groupBy(list, (item) => elementOf(schema, item))
}
