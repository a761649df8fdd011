import type { Node } from '../../model/generated/core-v1.ts'
import { isExtendedResource } from '../../model/resources/is-extended-resource.ts'
import { compareQuantities, parseQuantity } from '../../model/resources/quantity.ts'
import { ATTACH_DETACH_ANNOTATION } from './compute-initial-node.ts'

type Texts = Readonly<Record<string, string>>

const RECONCILED_LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]

/**
 * The Node object from before this agent, with the fields that this agent owns set as it would create them. Other labels, taints
 * and the provider's id stay as they are.
 */
export function computeNodeReconciliation(
  initial: Node,
  existing: Node,
  { keepsDevices }: { readonly keepsDevices: boolean },
): Node {
  const own = initial.metadata ?? {}
  const theirs = existing.metadata ?? {}
  const labels = Object.entries(own.labels ?? {}).filter(([name, value]) => isReconciled(name) && value !== '')
  const { [ATTACH_DETACH_ANNOTATION]: attach } = own.annotations ?? {}
  const { [ATTACH_DETACH_ANNOTATION]: _, ...others } = theirs.annotations ?? {}
  const annotations = attach === undefined ? others : { ...others, [ATTACH_DETACH_ANNOTATION]: attach }
  const { capacity, allocatable } = initial.status ?? {}
  const reconcile = (mine: Texts | undefined, found: Texts | undefined) => reconcileResources(mine, found, keepsDevices)
  return {
    ...existing,
    metadata: { ...theirs, labels: { ...theirs.labels, ...Object.fromEntries(labels) }, annotations },
    status: {
      ...existing.status,
      capacity: reconcile(capacity, existing.status?.capacity),
      allocatable: reconcile(allocatable, existing.status?.allocatable),
    },
  }
}

/** Huge pages are as they are now; devices without a record are not available until a plugin registers them again. */
function reconcileResources(own: Texts = {}, theirs: Texts | undefined, keepsDevices: boolean): Texts {
  if (theirs === undefined) return own
  const isLost = (name: string) => !keepsDevices && isExtendedResource(name)
  const kept = Object.entries(theirs).filter(([name]) => !isHugepages(name) || own[name] !== undefined)
  return Object.fromEntries([
    ...kept.map(([name, amount]) => [name, isLost(name) && !isNone(amount) ? '0' : amount]),
    ...Object.entries(own).filter(([name, amount]) => isHugepages(name) && !isSame(theirs[name], amount)),
  ])
}

function isHugepages(name: string): boolean {
  return name.startsWith('hugepages-')
}

function isReconciled(label: string): boolean {
  return RECONCILED_LABELS.includes(label)
}

function isNone(amount: string): boolean {
  return parseQuantity(amount).nanos === 0n
}

function isSame(a: string | undefined, b: string): boolean {
  return a !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0
}
