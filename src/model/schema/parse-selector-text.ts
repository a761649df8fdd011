import { labelValue, qualifiedName } from './validation/name-rules.ts'

/** Whether labels are selected. */
export type SelectsLabels = (labels: Readonly<Record<string, string>>) => boolean

type Requirement = (value: string | undefined) => boolean

const SET = /^([^\s=!,()]+)\s+(in|notin)\s*\(([^()]*)\)$/
const PAIR = /^([^\s=!<>,()]+)\s*(==|=|!=|>|<)\s*([^\s=!,()]*)$/
const EXISTS = /^(!?)\s*([^\s=!<>,()]+)$/

/** "a=b,c!=d,e in (f,g),!h" to a selector; undefined when it selects everything. Throws when it makes no sense. */
export function parseSelectorText(text: string): SelectsLabels | undefined {
  if (text.trim() === '') return undefined
  const requirements = splitRequirements(text).map((part) => parseRequirement(part.trim(), text))
  return (labels) => requirements.every(([key, holds]) => holds(Object.hasOwn(labels, key) ? labels[key] : undefined))
}

/** At commas, but not at those between parentheses. */
function splitRequirements(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/)
}

function parseRequirement(part: string, whole: string): readonly [key: string, holds: Requirement] {
  const set = SET.exec(part)
  if (set !== null) {
    const [, key = '', operator, list = ''] = set
    const values = new Set(list.split(',').map((value) => value.trim()))
    check(key, [...values], whole)
    return [key, (value) => (value !== undefined && values.has(value)) === (operator === 'in')]
  }
  const pair = PAIR.exec(part)
  if (pair !== null) {
    const [, key = '', operator = '', wanted = ''] = pair
    check(key, [wanted], whole)
    return [key, toComparison(operator, wanted, whole)]
  }
  const [, not, key = ''] = EXISTS.exec(part) ?? []
  check(key, [], whole)
  return [key, (value) => (value !== undefined) === (not === '')]
}

function toComparison(operator: string, wanted: string, whole: string): Requirement {
  if (operator === '=' || operator === '==') return (value) => value === wanted
  if (operator === '!=') return (value) => value !== wanted
  if (!/^-?\d+$/.test(wanted)) throw unreadable(whole, 'a whole number is compared with')
  const number = BigInt(wanted)
  return (value) => {
    if (value === undefined || !/^-?\d+$/.test(value)) return false
    return operator === '>' ? BigInt(value) > number : BigInt(value) < number
  }
}

function check(key: string, values: readonly string[], whole: string): void {
  const why = qualifiedName(key) ?? values.map(labelValue).find((each) => each !== undefined)
  if (why !== undefined) throw unreadable(whole, why)
}

function unreadable(whole: string, why: string): Error {
  return new Error(`unable to parse the label selector ${JSON.stringify(whole.slice(0, 200))}: ${why}`)
}
