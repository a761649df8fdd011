import { FlagError } from '../config-error.ts'
import type { FlagRow } from './flag-rows.ts'
import type { GivenFlag } from './parse-command-line.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

interface Tree {
  readonly [name: string]: unknown
}

function valueAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Tree)[name], tree)
}

function withValueAt(tree: Tree, path: readonly string[], value: unknown): Tree {
  const [name = '', ...rest] = path
  return { ...tree, [name]: rest.length === 0 ? value : withValueAt(tree[name] as Tree, rest, value) }
}

/** A copy of the values with the flags of one target set on top; refuses all texts that cannot be read, at once. */
export function applyFlags<T extends object>(values: T, given: readonly GivenFlag[], target: FlagRow['target']): T {
  const problems: string[] = []
  let result = values as T & Tree
  for (const { row, texts } of given) {
    if (row.target !== target) continue
    try {
      const current = target === 'nowhere' ? row.field.unset : valueAt(result, row.path)
      const value = row.flag.parse(texts, current)
      if (target !== 'nowhere') result = withValueAt(result, row.path, value) as T & Tree
    } catch (error) {
      const shown = /password|header/.test(row.flag.name) ? '***' : texts.join(' ')
      problems.push(`--${row.flag.name}=${JSON.stringify(shown)}: ${errorMessage(error)}`)
    }
  }
  if (problems.length > 0) throw new FlagError(problems)
  return result
}

/** One line for each flag that is deprecated or does nothing. */
export function listFlagWarnings(given: readonly GivenFlag[]): readonly string[] {
  return given.flatMap(({ row: { flag, target, path } }) => {
    if (target === 'nowhere') return [`Flag --${flag.name} has no effect`]
    if (!flag.deprecated) return []
    const instead = target === 'configuration' ? `: set ${path.join('.')} in the file of --config` : ''
    return [`Flag --${flag.name} is deprecated${instead}`]
  })
}
