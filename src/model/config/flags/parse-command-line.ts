import { suggestion } from '../values/suggestion.ts'
import type { FlagRow } from './flag-rows.ts'
import { explainRemovedFlag } from './removed-flags.ts'

/** A flag that was given, with the text of each use in order. */
export interface GivenFlag {
  readonly row: FlagRow
  readonly texts: readonly string[]
}

/** What the arguments say, before any value is checked. */
export interface ParsedCommandLine {
  readonly given: readonly GivenFlag[]
  readonly problems: readonly string[]
}

/** One argument taken apart: a flag with or without a value of its own, or something that is no flag. */
interface Argument {
  readonly row?: FlagRow | undefined
  readonly value?: string | undefined
  readonly problem?: string
}

class FlagNames {
  readonly #long: ReadonlyMap<string, FlagRow>
  readonly #short: ReadonlyMap<string, FlagRow>

  constructor(rows: readonly FlagRow[]) {
    this.#long = new Map(rows.map((row) => [row.flag.name, row]))
    this.#short = new Map(rows.flatMap((row) => (row.flag.short === undefined ? [] : [[row.flag.short, row]])))
  }

  /** "--name" or "--name=value", with "_" as good as "-" in the name. */
  readLong(argument: string): Argument {
    const equals = argument.indexOf('=')
    const name = argument.slice(2, equals < 0 ? undefined : equals).replaceAll('_', '-')
    const row = this.#long.get(name)
    if (row === undefined) {
      const unknown = `unknown flag --${name}${suggestion(name, this.#long.keys(), '--')}`
      return { problem: explainRemovedFlag(name) ?? unknown }
    }
    return { row, value: equals < 0 ? undefined : argument.slice(equals + 1) }
  }

  /** "-v4", "-v=4", "-v", "-h". */
  readShort(argument: string): Argument {
    const row = this.#short.get(argument.slice(1, 2))
    if (row === undefined) return { problem: this.#explainShort(argument) }
    const rest = argument.slice(2)
    if (rest !== '' && !rest.startsWith('=') && takesNoValue(row)) return { problem: this.#explainShort(argument) }
    return { row, value: rest === '' ? undefined : rest.replace(/^=/, '') }
  }

  /** The first kubelets took one dash before any name. */
  #explainShort(argument: string): string {
    const name = argument.replace(/^-|=.*$/g, '').replaceAll('_', '-')
    const hint = this.#long.has(name) ? `, did you mean --${name}?` : ''
    return (hint === '' ? explainRemovedFlag(name) : undefined) ?? `unknown flag ${argument.split('=')[0]}${hint}`
  }
}

function takesNoValue(row: FlagRow): boolean {
  return row.flag.type === 'bool' || row.flag.type === 'version'
}

/** Takes the arguments apart: which flags, with which texts; anything else is a problem. */
export function parseCommandLine(argv: readonly string[], rows: readonly FlagRow[]): ParsedCommandLine {
  const names = new FlagNames(rows)
  const texts = new Map<FlagRow, string[]>()
  const problems: string[] = []
  const rest = [...argv]
  let onlyArguments = false
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--' && !onlyArguments) {
      onlyArguments = true
      continue
    }
    if (onlyArguments || !/^-./.test(argument)) {
      problems.push(`unexpected argument ${JSON.stringify(argument)}: expected flags only`)
      continue
    }
    const { row, value, problem } = argument.startsWith('--') ? names.readLong(argument) : names.readShort(argument)
    const text = row === undefined ? undefined : (value ?? (takesNoValue(row) ? 'true' : rest.shift()))
    if (row === undefined) problems.push(problem ?? `unknown flag ${argument}`)
    else if (text === undefined) problems.push(`--${row.flag.name} needs a value of type ${row.flag.type}`)
    else texts.set(row, [...(texts.get(row) ?? []), text])
  }
  return { given: [...texts].map(([row, values]) => ({ row, texts: values })), problems }
}
