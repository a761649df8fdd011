import { compareQuantities, quantityMilliValue, quantityValue } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import { computePodRequests, parseAmounts } from '../../model/resources/compute-pod-requests.ts'
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
 * Parity: plugin/pkg/admission/podresize. Differs: known by what changes, since nothing else than a resize changes the requests of a pod.
 */
export function admitResize(change: Change, objects: ObjectReader): void {
  if (!isChangeOf(change, 'pods')) return
  const [old, spec] = [change.before?.spec, change.after?.spec]
  if (old === undefined || spec?.nodeName === undefined) return
  const [asked, earlier] = [spec, old].map((one) => computePodRequests({ spec: one }, { overhead: true }))
  const amount = (requests: typeof asked, name: string) => requests?.get(name) ?? NOTHING
  if (RESIZED.every(([name]) => compareQuantities(amount(asked, name), amount(earlier, name)) === 0)) return
  const target = { group: '', resource: 'pods', name: change.key.name }
  const { nodeName } = spec
  const node = objects.get({ resource: 'nodes', namespace: '', name: nodeName })
  if (node === undefined) throw forbidden(target, `node "${nodeName}" not found`)
  const system = node.metadata.labels?.[OS_LABEL] ?? 'linux'
  if (system !== 'linux')
    throw forbidden(target, `pod resize is only supported on linux nodes, node "${nodeName}" is "${system}"`, [
      { reason: 'UnsupportedPlatform' },
    ])
  const allocatable = parseAmounts(node.status?.allocatable)
  const lacks = RESIZED.flatMap(([name, inUnits]) => {
    const [requested, all] = [amount(asked, name), amount(allocatable, name)]
    if (compareQuantities(requested, all) <= 0) return []
    return [`${name}, requested: ${inUnits(requested)}, allocatable: ${inUnits(all)}`]
  })
  if (lacks.length > 0)
    throw forbidden(target, `node didn't have enough allocatable resources: ${lacks.join('; ')}`, [
      { reason: 'NodeCapacity' },
    ])
}
