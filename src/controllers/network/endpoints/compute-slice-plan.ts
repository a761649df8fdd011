import { sameValue } from '../../../base/document/same-value.ts'
import type { Endpoint, EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { OwnerReference } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import type { SliceGroup } from './compute-slice-groups.ts'

/** What all slices of one owner have. */
export interface SliceFrame {
  /** What their names begin with. */
  readonly baseName: string
  readonly namespace: string
  readonly owner: OwnerReference
  readonly labels: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export interface SlicePlan {
  readonly create: readonly EndpointSlice[]
  readonly update: readonly Live<EndpointSlice>[]
  readonly remove: readonly Live<EndpointSlice>[]
}

const MOST_ENDPOINTS = 100
const LONGEST_BASE = 57

/** What turns the slices there are into those that hold the groups. Endpoints stay where they are, so that few slices change. */
export function computeSlicePlan(
  frame: SliceFrame,
  present: readonly Live<EndpointSlice>[],
  groups: readonly SliceGroup[],
): SlicePlan {
  const [own, foreign] = partition(present, (slice) => isOwn(frame, slice))
  const create: EndpointSlice[] = []
  const update: Live<EndpointSlice>[] = []
  const unused = new Set(own)
  for (const group of groups) {
    const fitting = own.filter((slice) => isFor(group, slice))
    for (const slice of fitting) unused.delete(slice)
    fillGroup(frame, group, fitting, { create, update })
  }
  // The name of one that is not needed any more serves a new one of its family.
  for (const [index, slice] of [...create.entries()].toReversed()) {
    const spare = [...unused].find(({ addressType }) => addressType === slice.addressType)
    if (spare === undefined) continue
    unused.delete(spare)
    create.splice(index, 1)
    update.push(reframed(frame, { ...spare, ports: slice.ports, endpoints: slice.endpoints }))
  }
  return { create, update, remove: [...foreign, ...unused] }
}

function isOwn({ owner }: SliceFrame, { metadata }: Live<EndpointSlice>): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true
}

function isFor(group: SliceGroup, slice: EndpointSlice): boolean {
  return slice.addressType === group.addressType && sameValue(slice.ports ?? [], group.ports)
}

function fillGroup(
  frame: SliceFrame,
  group: SliceGroup,
  fitting: readonly Live<EndpointSlice>[],
  out: { readonly create: EndpointSlice[]; readonly update: Live<EndpointSlice>[] },
): void {
  const wanted = new Map(group.endpoints.map((endpoint) => [identityOf(endpoint), endpoint]))
  const filled = fitting.map((slice) => {
    const endpoints = (slice.endpoints ?? []).flatMap((endpoint) => {
      const now = wanted.get(identityOf(endpoint))
      wanted.delete(identityOf(endpoint))
      return now ?? []
    })
    return { slice, endpoints, isChanged: isChanged(frame, slice, endpoints) }
  })
  const rest = [...wanted.values()]
  const roomOf = (each: (typeof filled)[number]) => MOST_ENDPOINTS - each.endpoints.length
  // First those that are written anyway, then the one that fits the rest best, then new ones.
  for (const each of filled.filter((one) => one.isChanged)) each.endpoints.push(...rest.splice(0, roomOf(each)))
  const best = filled
    .filter((each) => !each.isChanged && rest.length > 0 && roomOf(each) >= rest.length)
    .toSorted((a, b) => roomOf(a) - roomOf(b))[0]
  if (best !== undefined) {
    best.endpoints.push(...rest.splice(0))
    best.isChanged = true
  }
  while (rest.length > 0) out.create.push(newSlice(frame, group, rest.splice(0, MOST_ENDPOINTS)))
  // One stays, so that readers see that there are no endpoints.
  const isEmpty = group.endpoints.length === 0
  if (isEmpty && fitting.length === 0) out.create.push(newSlice(frame, group, []))
  for (const { slice, endpoints, isChanged: isWritten } of filled) {
    if (isWritten) out.update.push(reframed(frame, { ...slice, endpoints }))
  }
}

function isChanged(frame: SliceFrame, slice: Live<EndpointSlice>, endpoints: readonly Endpoint[]): boolean {
  const { labels, annotations } = slice.metadata
  return (
    !sameValue(slice.endpoints ?? [], endpoints) ||
    !sameValue(labels ?? {}, frame.labels) ||
    !sameValue(annotations ?? {}, frame.annotations ?? {})
  )
}

function reframed({ labels, annotations }: SliceFrame, slice: Live<EndpointSlice>): Live<EndpointSlice> {
  return { ...slice, metadata: { ...slice.metadata, labels, annotations } }
}

function newSlice(
  { baseName, namespace, owner, labels, annotations }: SliceFrame,
  { addressType, ports }: SliceGroup,
  endpoints: readonly Endpoint[],
): EndpointSlice {
  const generateName = baseName.length <= LONGEST_BASE ? `${baseName}-` : baseName
  const metadata = { generateName, namespace, labels, ownerReferences: [owner], ...(annotations && { annotations }) }
  return { metadata, addressType, ports, endpoints }
}

function identityOf({ targetRef, addresses }: Endpoint): string {
  return `${targetRef?.uid ?? ''} ${addresses.join(' ')}`
}

function partition<T>(all: readonly T[], holds: (each: T) => boolean): readonly [T[], T[]] {
  return [all.filter(holds), all.filter((each) => !holds(each))]
}
