import type { GivenFlag } from './parse-command-line.ts'

/** The flag that set a field of the configuration; undefined when none did. */
export function locateFlag(given: readonly GivenFlag[], field: string): string | undefined {
  const [, path = field, key] = /^([^[]+)\[([^\]]*)\]/.exec(field) ?? []
  const setter = given.find(
    ({ row, texts }) =>
      row.target === 'configuration' &&
      row.path.join('.') === path &&
      // What a flag adds to a map of the file is not all that is in the map.
      (key === undefined || /^\d+$/.test(key) || texts.some((text) => text.includes(key))),
  )
  return setter && `--${setter.row.flag.name}`
}
