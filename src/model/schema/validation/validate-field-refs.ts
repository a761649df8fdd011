import type { ObjectFieldSelector, ResourceFieldSelector } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { qualifiedName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

/** Fields of the pod that a variable may show. */
export const ENV_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
/** Fields of the pod that a file may show. */
export const VOLUME_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]
const RESOURCES = ['limits', 'requests'].flatMap((which) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${which}.${name}`),
)
const BYTE_DIVISORS = [
  '1',
  ...['k', 'M', 'G', 'T', 'P', 'E'].flatMap((unit) => [`1${unit}`, `1${unit.toUpperCase()}i`]),
]

/** A reference to a field of the pod, such as metadata.labels['app']. */
export function validateFieldRef(
  selector: ObjectFieldSelector,
  fields: readonly string[],
  path: FieldPath,
  problems: ProblemList,
): void {
  if (selector.apiVersion !== 'v1')
    return problems.unsupported(path.child('apiVersion'), selector.apiVersion ?? '', ['v1'])
  if (!selector.fieldPath) return problems.required(path.child('fieldPath'))
  const [, field, key] = /^([^[\]]+)\['([^']*)'\]$/.exec(selector.fieldPath) ?? []
  if (field === undefined || key === undefined) {
    if (!fields.includes(selector.fieldPath)) problems.unsupported(path.child('fieldPath'), selector.fieldPath, fields)
  } else if (field === 'metadata.annotations') problems.matches(path, key.toLowerCase(), qualifiedName)
  else if (field === 'metadata.labels') problems.matches(path, key, qualifiedName)
  else problems.invalid(path, field, 'has no keys to choose from')
}

/** A reference to an amount of a container, such as limits.cpu. */
export function validateResourceFieldRef(
  selector: ResourceFieldSelector,
  path: FieldPath,
  problems: ProblemList,
  needsContainer = false,
): void {
  const { resource, divisor, containerName } = selector
  if (needsContainer && !containerName) return problems.required(path.child('containerName'))
  if (!resource) return problems.required(path.child('resource'))
  const isKnown = RESOURCES.includes(resource) || /^(?:limits|requests)\.hugepages-/.test(resource)
  if (!isKnown) return problems.unsupported(path.child('resource'), resource, RESOURCES)
  if (divisor === undefined || divisor === '0') return
  const divisors = resource.endsWith('.cpu') ? ['1m', '1'] : BYTE_DIVISORS
  if (!divisors.includes(divisor)) problems.unsupported(path.child('divisor'), divisor, divisors)
}
