import { sameValue } from '../../base/document/same-value.ts'
import type { Container, Pod, ResourceQuota } from '../../model/generated/core-v1.ts'
import { hasPodResources } from '../../model/resources/has-pod-resources.ts'
import { formatQuantity, parseQuantity, tryParseQuantity } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import { forbidden } from '../api-error.ts'
import { createObjectReader } from '../kinds/object-reader.ts'
import { resourceOfStorage } from '../kinds/all-resources.ts'
import type { Change, ChangeSet } from '../lifecycle/change-set.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'
import type { StoreView } from '../store/transaction.ts'
import { addUsage, computeUsage, isInScope } from './compute-usage.ts'
import type { QuotaUsage } from './compute-usage.ts'

type Quota = ObjectOf<ResourceQuota>

const QUOTAS = 'resourcequotas'
const ZERO = parseQuantity('0')
const MUST_SAY = /^(requests\.|limits\.)?(cpu|memory)$/

/** Refuses an object that would use more than a quota of its namespace leaves. Throws an ApiError. */
export function admitByQuotas({ key, before, after }: Change, view: StoreView): void {
  if (after === undefined || key.namespace === '') return
  const quotas = createObjectReader(view).list(QUOTAS, key.namespace)
  if (quotas.length === 0) return
  const named = { ...namedOf(key.resource), name: after.metadata.name ?? '' }
  for (const quota of quotas) {
    const why = findQuotaFault(quota, { storage: key.resource, before, after }, view)
    if (why !== undefined) throw forbidden(named, why)
  }
}

function namedOf(storage: string): { readonly group: string; readonly resource: string } {
  const { group, plural } = resourceOfStorage(storage) ?? {}
  if (plural !== undefined) return { group: group ?? '', resource: plural }
  const [resource = '', ...rest] = storage.split('.')
  return { group: rest.join('.'), resource }
}

interface Counted {
  readonly storage: string
  readonly before: ApiObject | undefined
  readonly after: ApiObject
}

function findQuotaFault(quota: Quota, { storage, before, after }: Counted, view: StoreView): string | undefined {
  const { spec = {}, metadata } = quota
  const hard = Object.entries(spec.hard ?? {})
  if (!isInScope(storage, after, spec)) return undefined
  const usage = computeUsage(storage, after)
  const old: QuotaUsage =
    before !== undefined && isInScope(storage, before, spec) ? computeUsage(storage, before) : new Map()
  if (storage === 'pods' && before === undefined) {
    const missing = findUnsaid(
      after as ObjectOf<Pod>,
      hard.map(([name]) => name),
    )
    if (missing !== '') return `failed quota: ${metadata.name}: must specify ${missing}`
  }
  const grown = hard.filter(([name]) => (usage.get(name)?.nanos ?? 0n) > (old.get(name)?.nanos ?? 0n))
  if (grown.length === 0) return undefined
  const total = computeUsed(quota, view)
  const exceeded = grown
    .map(([name, limit]) => {
      const by = { ...(usage.get(name) ?? ZERO), nanos: (usage.get(name)?.nanos ?? 0n) - (old.get(name)?.nanos ?? 0n) }
      const now = total.get(name) ?? ZERO
      return { name, by, used: { ...now, nanos: now.nanos - by.nanos }, limit: tryParseQuantity(limit) ?? ZERO, now }
    })
    .filter(({ now, limit }) => now.nanos > limit.nanos)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  if (exceeded.length === 0) return undefined
  const list = (amountOf: (each: (typeof exceeded)[number]) => Quantity) =>
    exceeded.map((each) => `${each.name}=${formatQuantity(amountOf(each))}`).join(',')
  return `exceeded quota: ${metadata.name}, requested: ${list(({ by }) => by)}, used: ${list(({ used }) => used)}, limited: ${list(({ limit }) => limit)}`
}

/** What containers do not say although a quota limits it. They need not where the pod says it for all of them. */
function findUnsaid({ spec }: Pod, hard: readonly string[]): string {
  if (spec === undefined || hasPodResources({ spec })) return ''
  const containers = [...spec.containers, ...(spec.initContainers ?? [])]
  return hard
    .filter((name) => MUST_SAY.test(name))
    .toSorted()
    .flatMap((name) => {
      const silent = containers.filter((container) => !says(container, name)).map((container) => container.name)
      return silent.length === 0 ? [] : [`${name} for: ${silent.toSorted().join(',')}`]
    })
    .join('; ')
}

function says({ resources = {} }: Container, name: string): boolean {
  const [, what = 'requests.', resource = ''] = MUST_SAY.exec(name) ?? []
  return (what === 'limits.' ? resources.limits : resources.requests)?.[resource] !== undefined
}

/** What is used of what a quota limits, by all that is there. */
function computeUsed({ metadata, spec = {} }: Quota, view: StoreView): QuotaUsage {
  const total = new Map<string, Quantity>()
  for (const storage of storagesOf(Object.keys(spec.hard ?? {}))) {
    for (const { object } of view.list({ resource: storage, namespace: metadata.namespace ?? '' })) {
      if (isInScope(storage, object, spec)) addUsage(total, computeUsage(storage, object))
    }
  }
  return total
}

/** Where the objects are that names of a quota are about. */
function storagesOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.map((name) => {
      if (name.startsWith('count/')) return name.slice('count/'.length)
      if (name.startsWith('services')) return 'services'
      if (name === 'requests.storage' || name === 'persistentvolumeclaims' || name.includes('.storageclass.')) {
        return 'persistentvolumeclaims'
      }
      return ['configmaps', 'secrets', 'resourcequotas', 'replicationcontrollers'].includes(name) ? name : 'pods'
    }),
  )
}

/** After a change the quotas of its namespace say what is used. */
export function followQuotas(changes: ChangeSet, { key, before, after }: Change): void {
  if (key.namespace === '') return
  if (key.resource !== QUOTAS && sameUsage(key.resource, before, after)) return
  for (const quota of changes.objects.list(QUOTAS, key.namespace)) {
    const hard = quota.spec?.hard ?? {}
    const usage = computeUsed(quota, changes.view)
    const used = Object.fromEntries(Object.keys(hard).map((name) => [name, formatQuantity(usage.get(name) ?? ZERO)]))
    const status = { hard, used }
    if (sameValue(status, quota.status)) continue
    changes.put({ resource: QUOTAS, namespace: key.namespace, name: quota.metadata.name ?? '' }, { ...quota, status })
  }
}

function sameUsage(storage: string, before: ApiObject | undefined, after: ApiObject | undefined): boolean {
  if (before === undefined || after === undefined) return false
  // Whether a pod is in a scope can change too.
  if (storage === 'pods' && !sameValue((before as Pod).spec, (after as Pod).spec)) return false
  const texts = (object: ApiObject) => [...computeUsage(storage, object)].map(([name, { nanos }]) => `${name}=${nanos}`)
  return sameValue(texts(before), texts(after))
}
