import { badRequest } from '../../api-error.ts'
import type { Resource } from '../../kinds/resource.ts'
import type { ApiObject } from '../../store/api-object.ts'

/** What objects are selected by their fields. */
export interface FieldSelector {
  readonly matches: (object: ApiObject) => boolean
  /** The one name that can be selected, if the selector says so. */
  readonly name: string | undefined
  /** What the text of every selected object contains, if that can be said. */
  readonly word: string | undefined
}

// Fields that are stored as they are selected; others may have a default that is not in the text.
const LITERAL: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace', 'spec.nodeName'])
// What no form of JSON writes in another way.
const PLAIN = /^[\w.-]+$/

/** "metadata.name=a,status.phase!=Running" to a selector; undefined when it selects everything. */
export function parseFieldSelector(text: string | null, resource: Resource): FieldSelector | undefined {
  if (text === null || text.trim() === '') return undefined
  const known = new Set(['metadata.name', 'metadata.namespace', ...Object.keys(resource.selectableFields)])
  const requirements = splitUnescaped(text).map((part) => {
    const [, field = '', operator = '', value = ''] = /^([^=!]+)(==|=|!=)((?:[^=\\]|\\.)*)$/.exec(part.trim()) ?? []
    if (operator === '')
      throw badRequest(`invalid field selector: ${JSON.stringify(part.slice(0, 200))}: expected field=value`)
    if (!known.has(field)) throw badRequest(`field label not supported: ${field.slice(0, 200)}`)
    return { field, isEqual: operator !== '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') }
  })
  const literal = requirements.filter(({ field, isEqual, value }) => isEqual && LITERAL.has(field) && PLAIN.test(value))
  return {
    // The longest is in the fewest.
    word: literal.map(({ value }) => value).toSorted((a, b) => b.length - a.length)[0],
    name: requirements.find(({ field, isEqual }) => field === 'metadata.name' && isEqual)?.value,
    matches: (object) =>
      requirements.every(
        ({ field, isEqual, value }) => ((readField(resource, object, field) ?? '') === value) === isEqual,
      ),
  }
}

function readField(resource: Resource, object: ApiObject, field: string): string | undefined {
  if (field === 'metadata.name') return object.metadata.name
  if (field === 'metadata.namespace') return object.metadata.namespace
  return resource.selectableFields[field]?.(object)
}

/** At commas without a backslash before them. */
function splitUnescaped(text: string): readonly string[] {
  return text.split(/(?<!\\),/).filter((part) => part.trim() !== '')
}
