import { computePodLimits, parseAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type { ResourceAmounts } from '../../../model/resources/compute-pod-requests.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { compareQuantities, formatQuantity, parseQuantity, quantityValue } from '../../../model/resources/quantity.ts'
import type { Quantity } from '../../../model/resources/quantity.ts'

/** What is mounted on an emptyDir that is not on the disk. */
export interface EmptyDirMount {
  readonly fileSystem: 'tmpfs' | 'hugetlbfs'
  readonly source: string
  readonly options: readonly string[]
}

export interface EmptyDirNeeds {
  readonly pod: Pod
  /** As in emptyDir.medium; empty for the disk. */
  readonly medium: string
  readonly sizeLimit: string | undefined
}

const HUGE_PAGES = 'HugePages'
const HUGE_PAGES_RESOURCE = 'hugepages-'

/** The file system that a medium needs; undefined for the disk. */
export function emptyDirFileSystem(medium: string): EmptyDirMount['fileSystem'] | undefined {
  if (medium === '') return undefined
  if (medium === 'Memory') return 'tmpfs'
  if (medium === HUGE_PAGES || medium.startsWith(`${HUGE_PAGES}-`)) return 'hugetlbfs'
  throw new Error(
    `Cannot make an emptyDir: unknown medium "${medium}", expected "", Memory, HugePages or HugePages-<size>`,
  )
}

/** How to mount it. */
export function computeEmptyDirMount(
  needs: EmptyDirNeeds,
  node: { readonly allocatable: ResourceAmounts; readonly noswap: boolean },
): EmptyDirMount {
  if (emptyDirFileSystem(needs.medium) === 'hugetlbfs') {
    return { fileSystem: 'hugetlbfs', source: 'nodev', options: [`pagesize=${pageSize(needs)}`] }
  }
  const size = tmpfsSize(needs, node.allocatable)
  const options = [...(size === undefined ? [] : [`size=${size}`]), ...(node.noswap ? ['noswap'] : [])]
  return { fileSystem: 'tmpfs', source: 'tmpfs', options }
}

/** No more than the node has for pods, than the pod may use, and than the volume may hold. */
function tmpfsSize({ pod, sizeLimit }: EmptyDirNeeds, allocatable: ResourceAmounts): bigint | undefined {
  const limits = [
    allocatable.get('memory'),
    podMemoryLimit(pod),
    sizeLimit === undefined ? undefined : parseQuantity(sizeLimit),
  ]
  const [least] = limits.filter((limit) => limit !== undefined && limit.nanos > 0n).toSorted(compareDefined)
  return least === undefined ? undefined : quantityValue(least)
}

function compareDefined(a: Quantity | undefined, b: Quantity | undefined): number {
  return a === undefined || b === undefined ? 0 : compareQuantities(a, b)
}

/** One container without a limit makes the whole pod unlimited, unless the pod has a limit of its own. */
function podMemoryLimit(pod: Pod): Quantity | undefined {
  const isLimited = (limits: Readonly<Record<string, string>> | undefined) =>
    (parseAmounts(limits).get('memory')?.nanos ?? 0n) > 0n
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]
  const limited =
    isLimited(pod.spec.resources?.limits) || containers.every(({ resources }) => isLimited(resources?.limits))
  return limited ? computePodLimits(pod, { overhead: true }).get('memory') : undefined
}

/** Only pages that the pod asked for are reserved for it. */
function pageSize({ pod, medium }: EmptyDirNeeds): string {
  const requests = [pod.spec, ...pod.spec.containers, ...(pod.spec.initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources?.requests ?? {}),
  )
  const sizes = new Set(requests.filter((name) => name.startsWith(HUGE_PAGES_RESOURCE)).map(canonicalSize))
  if (medium !== HUGE_PAGES) {
    const size = canonicalSize(medium)
    if (sizes.has(size)) return size
    throw new Error(`Cannot use medium "${medium}": no container has a resource request for huge pages of this size`)
  }
  const [size] = sizes
  if (size === undefined)
    throw new Error(`Cannot use medium "${medium}": no container has a resource request for huge pages`)
  if (sizes.size > 1)
    throw new Error(`Cannot use medium "${medium}": the pod requests multiple huge page sizes, expected one`)
  return size
}

/** "hugepages-2048Ki" and "HugePages-2Mi" are both "2Mi". */
function canonicalSize(name: string): string {
  return formatQuantity(parseQuantity(name.slice(HUGE_PAGES_RESOURCE.length)))
}
