import type { AnyObject } from './behaviour-case.ts'

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
/** What the API server makes up at the end of a name. */
const SUFFIX = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g
const ADDRESS = /\b10\.\d+\.\d+\.\d+\b/g
/** The minute in the name of a Job that a CronJob made. */
const MINUTE = /-\d{8}\b/g
const DROPPED = new Set(['uid', 'resourceVersion', 'managedFields', 'creationTimestamp', 'selfLink', 'imageID'])
/** These have a time that is the same in no two runs, and nothing else to compare. */
const TIMES = /(Time|Timestamp|At)$/

/** Which of these a rollout shows at a moment depends on how fast each step was. */
const STEPS: readonly (readonly [RegExp, string])[] = [
  [/"reason":"(NewReplicaSetCreated|ReplicaSetUpdated)"/g, '"reason":"InProgress"'],
  [/"(Created new replica set \\"[^"]*\\"|ReplicaSet \\"[^"]*\\" is progressing\.)"/g, '"is in progress"'],
]

/** What stands for the hashes of templates, in the order in which they were first seen. */
export class KnownHashes {
  readonly #names = new Map<string, string>()

  /** Learns the hash of a replica set, or of a revision of another kind. */
  learn({ metadata, spec, revision }: AnyObject): void {
    const isSet = spec?.template !== undefined
    if (!isSet && revision === undefined) return
    const hash = isSet ? metadata.labels?.['pod-template-hash'] : metadata.name.split('-').at(-1)
    if (hash?.length > 4 && !this.#names.has(hash)) this.#names.set(hash, `H${this.#names.size + 1}`)
  }

  replaceIn(text: string): string {
    let result = text
    for (const [hash, name] of this.#names) result = result.replaceAll(hash, name)
    return result
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A value without what differs from run to run. */
export function normalize(value: unknown, namespace: string, hashes: KnownHashes): unknown {
  const text = hashes
    .replaceIn(JSON.stringify(strip(value, '')) ?? 'null')
    .replaceAll(namespace, 'NS')
    .replace(UID, 'UID')
    .replace(TIME, 'TIME')
    .replace(SUFFIX, '-x')
    .replace(ADDRESS, 'IP')
    .replace(MINUTE, '-MINUTE')
  return sorted(JSON.parse(STEPS.reduce((result, [step, name]) => result.replace(step, name), text)))
}

/** Lists whose order says nothing. */
const SETS = new Set(['endpoints', 'addresses', 'notReadyAddresses', 'ports'])

function strip(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each) => strip(each, key))
    return SETS.has(key) ? items.toSorted((a, b) => compare(orderOf(a), orderOf(b))) : items
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([name]) => !DROPPED.has(name))
    .map(([name, each]) => [name, TIMES.test(name) && typeof each === 'string' ? 'TIME' : strip(each, name)] as const)
  return Object.fromEntries(entries.filter(([name, each]) => !isNothing(name, each)))
}

/** Addresses and names differ from run to run, so they give no order. */
function orderOf(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) =>
    name === 'targetRef' || name === 'addresses' || name === 'ip' ? '' : each,
  )
}

/** Whether a field says no more than its absence. */
function isNothing(name: string, value: unknown): boolean {
  if (name === 'selector') return false
  // When a change began that endpoints show, for a metric of kube-proxy.
  if (name === 'endpoints.kubernetes.io/last-change-trigger-time') return true
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [name, sorted(each)] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => compare(a, b)))
}

/** Objects in an order that depends on them alone; of those that are alike one with their number. */
export function collapse(objects: readonly unknown[]): readonly unknown[] {
  const groups = Map.groupBy(objects, (object) => JSON.stringify(object))
  return [...groups]
    .toSorted(([a], [b]) => compare(a, b))
    .map(([text, { length }]) => (length === 1 ? JSON.parse(text) : { count: length, of: JSON.parse(text) }))
}

/** Of an object what controllers answer for; how often it was changed only where each step is known. */
export function shownOf(plural: string, { metadata, spec, status, ...fields }: AnyObject, isExact: boolean): unknown {
  const { apiVersion: _, kind: _kind, data: _data, ...others } = fields
  const { template: _template, jobTemplate: _jobTemplate, ...ownSpec } = spec ?? {}
  const shown = plural === 'pods' ? podSpec(spec) : ownSpec
  const conditions = status?.conditions?.toSorted((a: AnyObject, b: AnyObject) => compare(a.type, b.type))
  const { deletionTimestamp, generation, ...about } = metadata
  const { observedGeneration, ...state } = status ?? {}
  return {
    metadata: {
      ...about,
      ...(deletionTimestamp !== undefined && { isDeleting: true }),
      // Into how many changes of a slice its pods were put depends on how fast they came.
      ...(isExact && generation !== undefined && plural !== 'endpointslices' && { generation }),
    },
    ...(Object.keys(shown).length > 0 && { spec: shown }),
    ...(status !== undefined && {
      status: {
        ...state,
        ...(conditions && { conditions }),
        ...(isExact && observedGeneration !== undefined && { observedGeneration }),
      },
    }),
    ...others,
  }
}

/** What the template has is in its owner; what controllers add is here. */
function podSpec(spec: AnyObject): object {
  const { hostname, subdomain, affinity, tolerations, containers } = spec
  const env = containers.flatMap((container: AnyObject) => container.env ?? [])
  const volumes = (spec.volumes ?? []).filter((volume: AnyObject) => volume.persistentVolumeClaim !== undefined)
  return {
    hostname,
    subdomain,
    affinity,
    tolerations,
    ...(env.length > 0 && { env }),
    ...(volumes.length > 0 && { volumes }),
  }
}

/** An event without when and how often. */
export function shownOfEvent(event: AnyObject, withMessage: boolean): string {
  const { involvedObject, type, reason } = event
  const message = withMessage ? `: ${event.message.replace('(combined from similar events): ', '')}` : ''
  return `${involvedObject.kind}/${involvedObject.name} ${type} ${reason}${message} (${componentOf(event)})`
}

/** Who made an event. */
export function componentOf({ source, reportingComponent }: AnyObject): string {
  return source?.component || reportingComponent
}
