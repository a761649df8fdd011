import type { Settings } from '../load-configuration.ts'
import { listFlagRows } from './flag-rows.ts'
import { isJsonObject } from '../files/json-value.ts'
import type { Json } from '../files/json-value.ts'

/** Every flag by its name, with the value that is in force wherever it came from. */
export function listFlagValues({
  flags,
  config,
}: Pick<Settings, 'flags' | 'config'>): Readonly<Record<string, string>> {
  const rows = listFlagRows()
    .filter(({ target }) => target !== 'nowhere')
    .map(({ target, path, field, flag }) => {
      const value = path.reduce<unknown>(
        (parent, name) => (parent as Readonly<Record<string, unknown>> | undefined)?.[name],
        target === 'flags' ? flags : config,
      )
      // Zeros are left out of documents; here they are values like others.
      const zero = typeof value === 'number' || typeof value === 'boolean' ? value : ''
      return [flag.name, toText((value === undefined ? undefined : field.encode(value)) ?? zero)] as const
    })
  return Object.fromEntries([...rows].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** As it would be given on the command line. */
function toText(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  if (isJsonObject(value)) return [...value].map(([name, inner]) => `${name}=${toText(inner)}`).join(',')
  if (typeof value === 'object') return `[${value.map(toText).join(',')}]`
  return String(value)
}
