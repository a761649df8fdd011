import type { ConfigProblem } from '../config-error.ts'
import type { Field, Fields } from '../kinds/field.ts'
import { CONFIGURATION, type GivenConfiguration } from '../kubelet-configuration.ts'
import { isJsonObject, toPlain, type Json, type JsonObject } from './json-value.ts'

const HEADER = new Set(['apiVersion', 'kind'])

function withoutHeader(document: JsonObject): JsonObject {
  return new Map([...document].filter(([name]) => !HEADER.has(name)))
}

/** The paths of fields that the configuration does not have. */
export function findUnknownFields(document: JsonObject): readonly string[] {
  const unknown: string[] = []
  CONFIGURATION.decode(withoutHeader(document), '', {
    problem: () => {},
    unknownField: (path) => unknown.push(path),
  })
  return unknown
}

// Parity: the report follows the update period when only that one was set, so that both slow down together.
function withReportFrequency(config: GivenConfiguration, document: JsonObject): GivenConfiguration {
  const isSet = (name: string) => {
    const value = document.get(name) ?? null
    return (
      value !== null && value !== '' && !(typeof value === 'string' && /^[+-]?0/.test(value) && !/[1-9]/.test(value))
    )
  }
  if (isSet('nodeStatusReportFrequency') || !isSet('nodeStatusUpdateFrequency')) return config
  return { ...config, nodeStatusReportFrequency: config.nodeStatusUpdateFrequency }
}

/** A configuration, and the values of a wrong type on the way to it; those fields have their defaults, so that the rest can be checked. */
export interface DecodedConfiguration {
  readonly config: GivenConfiguration
  readonly problems: readonly ConfigProblem[]
}

/** A document to the configuration, with defaults. Unknown fields are left out. */
export function decodeConfiguration(document: JsonObject, locate: (path: string) => string): DecodedConfiguration {
  const problems: ConfigProblem[] = []
  const config = CONFIGURATION.decode(withoutHeader(document), '', {
    problem: (path, value, rule) => {
      problems.push({ path, value: toPlain(value as Json), rule: `${rule} (${locate(path)})` })
    },
    unknownField: () => {},
  })
  return { config: withReportFrequency(config, document), problems }
}

/** The name of a known field that differs from this one only in its case. */
export function matchCase(fields: Fields, name: string): string | undefined {
  return Object.keys(fields).find((known) => known.toLowerCase() === name.toLowerCase())
}

/** Parity: in drop-ins the case of names does not matter, where the exact name is not there too. */
export function repairCase(document: JsonObject, fields: Fields): JsonObject {
  const result = new Map<string, Json>()
  for (const [name, value] of document) {
    const known = Object.hasOwn(fields, name) ? name : matchCase(fields, name)
    if (known !== undefined && known !== name && document.has(known)) continue
    const field: Field<unknown> | undefined = known === undefined ? undefined : fields[known]
    const inner = isJsonObject(value) && field?.fields !== undefined ? repairCase(value, field.fields) : value
    result.set(known ?? name, inner)
  }
  return result
}
