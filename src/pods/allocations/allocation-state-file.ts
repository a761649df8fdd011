import { fnv1a32 } from '../../model/text/fnv1a32.ts'
import type { ResourceClaim, ResourceRequirements } from '../../model/generated/core-v1.ts'
import { goJson } from '../../model/text/go-json.ts'
import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { formatQuantity, parseQuantity } from '../../model/resources/quantity.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { isRecord } from '../../base/document/is-record.ts'

export type Allocations = ReadonlyMap<PodUid, PodAllocation>

type Json = Readonly<Record<string, unknown>>

/** The text of a file is not what an agent wrote. */
export class AllocationTextError extends Error {
  override name = 'AllocationTextError'
}

// With each pod that comes all are written again, and few have changed.
const knownTexts = new WeakMap<PodAllocation, string>()

/** Resources of pods as the Go kubelet writes them to its files, so that either agent reads what the other wrote. */
export function formatAllocations(allocations: Allocations): string {
  const toText = (allocation: PodAllocation) =>
    knownTexts.getOrInsertComputed(allocation, () => goJson(toEntry(allocation)))
  const entries = byName([...allocations]).map(([uid, allocation]) => `${goJson(uid)}:${toText(allocation)}`)
  const data = entries.length === 0 ? '{}' : `{"entries":{${entries.join(',')}}}`
  return goJson({ data, checksum: checksumOf(data) })
}

/** Reads such a text again; throws AllocationTextError when it is cut off or was changed by hand. */
export function parseAllocations(text: string): Allocations {
  try {
    const { data, checksum } = toObject(JSON.parse(text), 'file')
    if (typeof data !== 'string') throw new Error('expected "data" to be text')
    // 0 is the way to say by hand that nothing has to be compared.
    if (checksum !== 0 && checksum !== checksumOf(data)) {
      throw new Error(`its checksum is ${checksumOf(data)}, expected ${String(checksum)}`)
    }
    const entries = Object.entries(toObject(toObject(JSON.parse(data), 'data')['entries'] ?? {}, 'entries'))
    return new Map(entries.map(([uid, entry]) => [parsePodUid(uid), parseEntry(toObject(entry, uid))]))
  } catch (error) {
    const why = errorMessage(error)
    throw new AllocationTextError(`Cannot read the resources of pods: ${why}`, { cause: error })
  }
}

/** As Go prints a string with its type before it. */
function checksumOf(data: string): number {
  return fnv1a32(`(string)${Buffer.from(data, 'utf8').toString('latin1')}`)
}

function toEntry({ containers, pod }: PodAllocation): Json {
  const named = [...containers].map(([name, resources]) => [name, toCanonical(resources)] as const)
  return { ContainerResources: sorted(named), PodLevelResources: pod === undefined ? null : toCanonical(pod) }
}

function toCanonical({ limits, requests, claims }: ResourceRequirements): Json {
  return {
    ...(isEmpty(limits) ? {} : { limits: toAmounts(limits) }),
    ...(isEmpty(requests) ? {} : { requests: toAmounts(requests) }),
    ...(claims === undefined || claims.length === 0 ? {} : { claims }),
  }
}

function toAmounts(amounts: Readonly<Record<string, string>> = {}): Json {
  return sorted(Object.entries(amounts).map(([name, text]) => [name, formatQuantity(parseQuantity(text))] as const))
}

function sorted(entries: readonly (readonly [string, unknown])[]): Json {
  return Object.fromEntries(byName(entries))
}

function byName<T extends readonly [string, unknown]>(entries: readonly T[]): readonly T[] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

function isEmpty(amounts: Readonly<Record<string, string>> | undefined): boolean {
  return amounts === undefined || Object.keys(amounts).length === 0
}

function parseEntry(entry: Json): PodAllocation {
  const containers = Object.entries(toObject(entry['ContainerResources'] ?? {}, 'ContainerResources'))
  const pod = entry['PodLevelResources'] ?? undefined
  return {
    containers: new Map(containers.map(([name, value]) => [name, parseRequirements(toObject(value, name))])),
    pod: pod === undefined ? undefined : parseRequirements(toObject(pod, 'PodLevelResources')),
  }
}

function parseRequirements({ limits, requests, claims }: Json): ResourceRequirements {
  return {
    ...(limits === undefined ? {} : { limits: parseAmounts(toObject(limits, 'limits')) }),
    ...(requests === undefined ? {} : { requests: parseAmounts(toObject(requests, 'requests')) }),
    ...(Array.isArray(claims) ? { claims: claims.map(parseClaim) } : {}),
  }
}

function parseAmounts(amounts: Json): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => {
      if (typeof amount !== 'string' && typeof amount !== 'number') throw new Error(`expected ${name} to be an amount`)
      return [name, formatQuantity(parseQuantity(String(amount)))]
    }),
  )
}

function parseClaim(value: unknown): ResourceClaim {
  const { name, request } = toObject(value, 'claim')
  if (typeof name !== 'string') throw new Error('expected a claim to have a name')
  return { name, ...(typeof request === 'string' ? { request } : {}) }
}

function toObject(value: unknown, what: string): Json {
  if (!isRecord(value)) throw new Error(`expected ${what} to be an object`)
  return value
}
