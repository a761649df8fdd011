import { isRecord } from '../../base/document/is-record.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { parseYaml } from '../../base/document/parse-yaml.ts'
import { parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import { parseTimeRange } from './parse-time-range.ts'
import type { Behaviour, RuleMatch, SimulationRule } from './simulation-options.ts'

type Read<T> = (value: unknown) => T

const NANOS = 1e9

const MATCH: Readonly<Record<keyof RuleMatch, Read<unknown>>> = {
  namespace: readText,
  pod: readText,
  container: readText,
  image: readText,
  labels: readTexts,
  share: readShare,
}

const BEHAVIOUR: Readonly<Record<string, readonly [field: keyof Behaviour, read: Read<unknown>]>> = {
  pullTime: ['pullTime', readTime],
  startTime: ['startTime', readTime],
  startFailure: ['startFailure', readText],
  exitsAfter: ['exitsAfter', readTime],
  exitCode: ['exitCode', readExitCode],
  readyAfter: ['readyAfter', readTime],
  cpu: ['cpuCores', (value) => Number(parseQuantity(readAmount(value)).nanos) / NANOS],
  memory: ['memoryBytes', (value) => Number(quantityValue(parseQuantity(readAmount(value))))],
  ignoresTerm: ['ignoresTerm', readBoolean],
}

/** The rules of a file: a list named "rules", each with what it matches and what such containers do. */
export function parseRules(text: string): readonly SimulationRule[] {
  const { value } = parseYaml(text)
  const list = isRecord(value) ? value['rules'] : undefined
  if (!isRecord(value) || !Array.isArray(list)) throw new Error('Cannot use the rules: expected a list named "rules"')
  const unknown = Object.keys(value).find((name) => name !== 'rules')
  if (unknown !== undefined) throw new Error(`Cannot use the rules: "${unknown}" is not known, expected "rules" alone`)
  return list.map((rule, index) => parseRule(rule, `rules[${index}]`))
}

function parseRule(rule: unknown, path: string): SimulationRule {
  if (!isRecord(rule)) throw new Error(`Cannot use ${path}: expected an object`)
  const { match = {}, ...rest } = rule
  if (!isRecord(match)) throw new Error(`Cannot use ${path}.match: expected an object`)
  const matched = Object.entries(match).map(([name, value]) => {
    const read = Object.hasOwn(MATCH, name) ? MATCH[name as keyof RuleMatch] : undefined
    return [name, readField({ read, value, names: Object.keys(MATCH) }, `${path}.match.${name}`)]
  })
  const set = Object.entries(rest).map(([name, value]) => {
    const [field, read] = (Object.hasOwn(BEHAVIOUR, name) ? BEHAVIOUR[name] : undefined) ?? [name, undefined]
    return [field, readField({ read, value, names: ['match', ...Object.keys(BEHAVIOUR)] }, `${path}.${name}`)]
  })
  return { match: Object.fromEntries(matched) as RuleMatch, behaviour: Object.fromEntries(set) as Partial<Behaviour> }
}

function readField(
  {
    read,
    value,
    names,
  }: { readonly read: Read<unknown> | undefined; readonly value: unknown; readonly names: readonly string[] },
  path: string,
): unknown {
  if (read === undefined) throw new Error(`Cannot use ${path}: it is not known, expected one of ${names.join(', ')}`)
  try {
    return read(value)
  } catch (error) {
    throw new Error(`Cannot use ${path}: ${errorMessage(error)}`, { cause: error })
  }
}

function readText(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error(`${JSON.stringify(value)} is no text`)
}

function readTexts(value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) throw new Error('expected names and texts')
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, readText(text)]))
}

function readShare(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  throw new Error(`${JSON.stringify(value)} is no number from 0 to 1`)
}

function readTime(value: unknown) {
  return parseTimeRange(readText(value))
}

function readExitCode(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255) return value
  throw new Error(`${JSON.stringify(value)} is no number from 0 to 255`)
}

function readBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new Error(`${JSON.stringify(value)} is neither true nor false`)
}

function readAmount(value: unknown): string {
  return typeof value === 'number' ? String(value) : readText(value)
}
