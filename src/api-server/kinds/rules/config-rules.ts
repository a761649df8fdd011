import type { ConfigMap, Secret } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { setKey } from '../../../base/document/position-index.ts'
import { configKey } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import { warnOfSecret } from '../warnings/warn-secret.ts'

const MAX_BYTES = 1024 * 1024
// The keys that a secret of a type must have; one of each list.
const REQUIRED_KEYS = new Map<string, readonly (readonly string[])[]>(
  Object.entries({
    'kubernetes.io/dockercfg': [['.dockercfg']],
    'kubernetes.io/dockerconfigjson': [['.dockerconfigjson']],
    'kubernetes.io/basic-auth': [['username', 'password']],
    'kubernetes.io/ssh-auth': [['ssh-privatekey']],
    'kubernetes.io/tls': [['tls.crt'], ['tls.key']],
  }),
)

// The keys whose values have to be JSON.
const JSON_KEYS = new Map<string, readonly string[]>([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
])
const ACCOUNT_TOKEN = 'kubernetes.io/service-account-token'
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'

type Texts = Readonly<Record<string, string>>

export const configMapRules: ResourceRules<ObjectOf<ConfigMap>> = {
  validate: ({ data = {}, binaryData: binary = {} }) => {
    const problems = new ProblemList()
    validateKeys(data, FieldPath.root.child('data'), problems)
    validateKeys(binary, FieldPath.root.child('binaryData'), problems)
    for (const key of Object.keys(binary)) {
      if (!Object.hasOwn(data, key)) continue
      problems.invalid(FieldPath.root.child('data').key(key), key, 'binaryData has this key too')
    }
    const bytes = bytesOf(data) + encodedBytesOf(binary)
    if (bytes > MAX_BYTES) problems.tooLong(FieldPath.root, MAX_BYTES)
    return problems.violations
  },
  validateUpdate: (map, before) => validateImmutable(map, before, ['data', 'binaryData']),
}

export const secretRules: ResourceRules<ObjectOf<Secret>> = {
  warn: warnOfSecret,
  fillDefaults: ({ stringData, ...secret }) => {
    const type = secret.type || 'Opaque'
    if (stringData === undefined) return { ...secret, type }
    const data = { ...secret.data }
    for (const [key, text] of Object.entries(stringData)) setKey(data, key, Buffer.from(text).toString('base64'))
    return { ...secret, data, type }
  },
  validate: ({ data = {}, type = '', metadata }) => {
    const problems = new ProblemList()
    const path = FieldPath.root.child('data')
    validateKeys(data, path, problems)
    if (encodedBytesOf(data) > MAX_BYTES) problems.tooLong(path, MAX_BYTES)
    for (const keys of REQUIRED_KEYS.get(type) ?? []) {
      if (!keys.some((key) => Object.hasOwn(data, key))) for (const key of keys) problems.required(path.key(key))
    }
    for (const key of JSON_KEYS.get(type) ?? []) {
      const text = ownText(data, key)
      if (text !== undefined && !isJson(text))
        problems.invalid(path.key(key), '<secret contents redacted>', 'must be JSON')
    }
    if (type === ACCOUNT_TOKEN && !metadata.annotations?.[ACCOUNT_NAME]) {
      problems.required(FieldPath.root.child('metadata').child('annotations').key(ACCOUNT_NAME))
    }
    return problems.violations
  },
  validateUpdate: (secret, before) => {
    const problems = new ProblemList()
    if (secret.type !== before.type) problems.invalid(FieldPath.root.child('type'), secret.type, 'field is immutable')
    return [...problems.violations, ...validateImmutable(secret, before, ['data'])]
  },
}

/** What a key of a secret says, decoded. */
function ownText(data: Texts, key: string): string | undefined {
  return Object.hasOwn(data, key) ? Buffer.from(data[key] ?? '', 'base64').toString('utf8') : undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function validateKeys(texts: Texts, path: FieldPath, problems: ProblemList): void {
  for (const key of Object.keys(texts)) problems.matches(path.key(key), key, configKey)
}

function validateImmutable<T extends ConfigMap | Secret>(
  object: T,
  before: T,
  fields: readonly (keyof T & string)[],
): readonly Violation[] {
  const problems = new ProblemList()
  if (before.immutable !== true) return []
  const rule = 'the object is immutable'
  if (object.immutable !== true) problems.forbidden(FieldPath.root.child('immutable'), rule)
  for (const field of fields) {
    if (!sameValue(object[field], before[field])) problems.forbidden(FieldPath.root.child(field), rule)
  }
  return problems.violations
}

function bytesOf(texts: Texts): number {
  return Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

function encodedBytesOf(texts: Texts): number {
  return Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0)
}
