import type { FieldPath } from '../field-path.ts'
import type { Int64 } from '../../generated/core-v1.ts'
import { formatExactJson } from '../../../base/document/exact-json.ts'

/** One broken rule, before it is known where in the text its field stands. */
export interface Violation {
  readonly path: FieldPath
  readonly rule: string
  readonly value?: unknown
  /** What the API calls it, where the beginning of the rule does not say that. */
  readonly reason?: string
}

/** Gathers every broken rule of a pod, worded as the API server words them, so that all of them are shown at once. */
export class ProblemList {
  readonly violations: Violation[] = []

  required(path: FieldPath, why = ''): void {
    this.violations.push({ path, rule: why === '' ? 'Required value' : `Required value: ${why}` })
  }

  invalid(path: FieldPath, value: unknown, why: string): void {
    this.violations.push({ path, rule: `Invalid value: ${show(value)}: ${why}`, value })
  }

  unsupported(path: FieldPath, value: unknown, supported: readonly string[]): void {
    const list = supported.map((each) => `"${each}"`).join(', ')
    this.violations.push({ path, rule: `Unsupported value: ${show(value)}: supported values: ${list}`, value })
  }

  duplicate(path: FieldPath, value: unknown): void {
    this.violations.push({ path, rule: `Duplicate value: ${show(value)}`, value })
  }

  notFound(path: FieldPath, value: unknown): void {
    this.violations.push({ path, rule: `Not found: ${show(value)}`, value })
  }

  forbidden(path: FieldPath, why: string): void {
    this.violations.push({ path, rule: `Forbidden: ${why}` })
  }

  tooLong(path: FieldPath, maxBytes: number): void {
    this.violations.push({ path, rule: `Too long: may not be more than ${maxBytes} bytes` })
  }

  tooMany(path: FieldPath, count: number, max: number): void {
    this.violations.push({ path, rule: `Too many: ${count}: must have at most ${max} items`, value: count })
  }

  /** Required if empty, invalid if the rule has something against it. */
  name(path: FieldPath, value: string | undefined, rule: NameRule): void {
    if (!value) this.required(path)
    else this.matches(path, value, rule)
  }

  /** Invalid if the rule has something against it. */
  matches(path: FieldPath, value: string, rule: NameRule): void {
    const why = rule(value)
    if (why !== undefined) this.invalid(path, value, why)
  }

  /** One of a closed set; required if empty. */
  oneOf(path: FieldPath, value: string | undefined, supported: readonly string[]): void {
    if (!value) this.required(path)
    else if (!supported.includes(value)) this.unsupported(path, value, supported)
  }

  /** Within bounds, both inclusive. */
  inRange(path: FieldPath, value: Int64 | undefined, min: number, max: number): void {
    if (value !== undefined && (value < min || value > max)) {
      this.invalid(path, value, `must be between ${min} and ${max}, inclusive`)
    }
  }

  notNegative(path: FieldPath, value: Int64 | undefined): void {
    if (value !== undefined && value < 0) this.invalid(path, value, 'must be greater than or equal to 0')
  }
}

/** Says what a text must be, when it is not. */
export type NameRule = (value: string) => string | undefined

// A message is a line of a log; what is longer is cut.
const MAX_SHOWN = 200

function show(value: unknown): string {
  const text = formatExactJson(value) ?? 'null'
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
