import { compareQuantities, quantityMilliValue, quantityValue } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import { computePodRequests, parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { sameValue } from '../../base/document/same-value.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import { forbidden } from '../api-error.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'

const OS_LABEL = 'kubernetes.io/os'
const NOTHING: Quantity = { nanos: 0n, format: 'DecimalSI' }
// What can be resized, and in which unit it is reported.
const RESIZED = [
  ['cpu', quantityMilliValue],
  ['memory', quantityValue],
] as const

/**
 * Rejects a resize of a bound pod that its node could never carry out: more than all that it gives to pods, or no Linux. Throws an ApiError.
 * Parity: plugin/pkg/admission/podresize. Differs: known by what changes, since nothing else than a resize changes the resources of a pod.
 */
export function admitResize(change: Change, objects: ObjectReader): void {
  if (!isChangeOf(change, 'pods')) return
  const [old, spec] = [change.before?.spec, change.after?.spec]
  if (old === undefined || spec?.nodeName === undefined) return
  if (sameValue(listResources(old), listResources(spec))) return
  const target = { group: '', resource: 'pods', name: change.key.name }
  const { nodeName } = spec
  const node = objects.get({ resource: 'nodes', namespace: '', name: nodeName })
  if (node === undefined) throw forbidden(target, `node "${nodeName}" not found`)
  const system = node.metadata.labels?.[OS_LABEL] ?? 'linux'
  if (system !== 'linux')
    throw forbidden(target, `pod resize is only supported on linux nodes, node "${nodeName}" is "${system}"`, [
      { reason: 'UnsupportedPlatform' },
    ])
  const asked = computePodRequests({ spec }, { overhead: true })
  const allocatable = parseAmounts(node.status?.allocatable)
  const lacks = RESIZED.flatMap(([name, inUnits]) => {
    const [requested, all] = [asked.get(name) ?? NOTHING, allocatable.get(name) ?? NOTHING]
    if (compareQuantities(requested, all) <= 0) return []
    return [`${name}, requested: ${inUnits(requested)}, allocatable: ${inUnits(all)}`]
  })
  if (lacks.length > 0)
    throw forbidden(target, `node didn't have enough allocatable resources: ${lacks.join('; ')}`, [
      { reason: 'NodeCapacity' },
    ])
}

function listResources({ resources, containers, initContainers = [] }: PodSpec): readonly unknown[] {
  return [resources, ...[...containers, ...initContainers].map((container) => container.resources)]
}
