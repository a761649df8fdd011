import { isRecord } from '../../base/document/is-record.ts'
import type { Pod } from '../../model/generated/core-v1.ts'

/** Which values of a pod its author did not write. */
export interface FilledIn {
  /** By what it is known: what was applied, or what it would be without a word. */
  readonly by: 'applied' | 'defaults'
  /** Paths such as "spec/containers/0/terminationMessagePath"; what is below one of them is filled in too. */
  readonly paths: ReadonlySet<string>
}

type Path = readonly (string | number)[]

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const API_ACCESS = /^kube-api-access-/
const ADDED_TOLERATIONS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Finds what the API has filled in: by what was applied where that is known, else by what is as it would be by default. */
export function findFilledIn(pod: Pod): FilledIn {
  const applied = readApplied(pod)
  const paths = new Set<string>()
  const isFilledIn = (path: Path, value: unknown) =>
    applied === undefined ? isDefault(pod, path, value) : !applied(path)
  const walk = (value: unknown, path: Path) => {
    if (path.length > 1 && isFilledIn(path, value)) paths.add(path.join('/'))
    else if (Array.isArray(value)) value.forEach((each, index) => walk(each, [...path, index]))
    else if (isRecord(value)) for (const [name, each] of Object.entries(value)) walk(each, [...path, name])
  }
  walk(pod.spec ?? {}, ['spec'])
  return { by: applied === undefined ? 'defaults' : 'applied', paths }
}

/** Whether a path is in what the author wrote; undefined where that is not known. */
function readApplied(pod: Pod): ((path: Path) => boolean) | undefined {
  const text = pod.metadata?.annotations?.[LAST_APPLIED]
  if (text !== undefined) {
    try {
      const given: unknown = JSON.parse(text)
      return (path) => read(given, path) !== undefined
    } catch {
      // A writer set another value there.
    }
  }
  const managed = (pod.metadata?.managedFields ?? []).filter(
    ({ operation, subresource = '' }) => operation === 'Apply' && subresource === '',
  )
  return managed.length === 0 ? undefined : (path) => managed.some(({ fieldsV1 }) => isManaged(pod, fieldsV1, path))
}

function read(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, name) => (at as Readonly<Record<string | number, unknown>> | undefined | null)?.[name],
    value,
  )
}

/** Follows a path through a set of fields, in which an item of a list stands under the fields that are its key. */
function isManaged(pod: Pod, fields: unknown, path: Path): boolean {
  let at = fields
  for (const [index, name] of path.entries()) {
    if (!isRecord(at)) return false
    // A field with nothing below it is managed as a whole.
    if (Object.keys(at).length === 0) return index > 0
    if (typeof name === 'string') at = at[`f:${name}`]
    else {
      const item = read(pod, path.slice(0, index + 1))
      at = Object.entries(at).find(([key]) => isOfItem(key, item))?.[1]
    }
  }
  return at !== undefined
}

function isOfItem(key: string, item: unknown): boolean {
  const [kind, text] = [key.slice(0, 2), key.slice(2)]
  try {
    const wanted: unknown = JSON.parse(text)
    if (kind === 'v:') return wanted === item
    return (
      kind === 'k:' &&
      isRecord(wanted) &&
      isRecord(item) &&
      Object.entries(wanted).every(([name, value]) => item[name] === value)
    )
  } catch {
    return false
  }
}

const SPEC_DEFAULTS: Readonly<Record<string, unknown>> = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  terminationGracePeriodSeconds: 30,
  enableServiceLinks: true,
  serviceAccountName: 'default',
  serviceAccount: 'default',
  priority: 0,
  preemptionPolicy: 'PreemptLowerPriority',
}
const CONTAINER_DEFAULTS: Readonly<Record<string, unknown>> = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
}
const PROBE_DEFAULTS: Readonly<Record<string, unknown>> = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
}

function isDefault(pod: Pod, path: Path, value: unknown): boolean {
  const [, part, index, name, inner] = path
  const isEmpty = isRecord(value) && Object.keys(value).length === 0
  if (path.length === 2)
    return (typeof part === 'string' && SPEC_DEFAULTS[part] === value) || (part === 'securityContext' && isEmpty)
  if (part === 'tolerations' && path.length === 3) return isAddedToleration(value)
  if (part === 'volumes') {
    if (path.length === 3) return API_ACCESS.test(String(read(value, ['name'])))
    return (inner === 'defaultMode' && value === 420) || (name === 'hostPath' && inner === 'type' && value === '')
  }
  if (part !== 'containers' && part !== 'initContainers') return false
  const container = pod.spec?.[part]?.[Number(index)]
  if (path.length === 4) {
    if (name === 'imagePullPolicy') return value === defaultPullPolicy(container?.image ?? '')
    return (name === 'resources' && isEmpty) || (typeof name === 'string' && CONTAINER_DEFAULTS[name] === value)
  }
  if (name === 'volumeMounts' && path.length === 5) return API_ACCESS.test(String(read(value, ['name'])))
  if (name === 'ports') return path[5] === 'protocol' && value === 'TCP'
  if (typeof name !== 'string' || !name.endsWith('Probe')) return false
  return typeof inner === 'string' && (PROBE_DEFAULTS[inner] === value || (path[5] === 'scheme' && value === 'HTTP'))
}

function isAddedToleration(value: unknown): boolean {
  if (!isRecord(value)) return false
  return (
    ADDED_TOLERATIONS.includes(String(value['key'])) &&
    value['effect'] === 'NoExecute' &&
    value['tolerationSeconds'] === 300
  )
}

/** The newest is pulled each time, and all others only where they are missing. */
function defaultPullPolicy(image: string): string {
  const last = image.split('/').at(-1) ?? ''
  return image.includes('@') || (last.includes(':') && !last.endsWith(':latest')) ? 'IfNotPresent' : 'Always'
}
